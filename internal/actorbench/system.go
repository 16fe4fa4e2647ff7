package actorbench

import (
	"log/slog"

	"github.com/actua/actua/actor"
)

// newSystem makes a system that logs nothing, as the originals do. throughput is that of its default dispatcher,
// 0 for the runtime's own default.
func newSystem(name string, throughput int) (*actor.System, error) {
	return actor.NewSystem(name, actor.Config{
		Logger:      slog.New(slog.DiscardHandler),
		Dispatchers: map[string]actor.DispatcherConfig{actor.DefaultDispatcher: {Throughput: throughput}},
	})
}
