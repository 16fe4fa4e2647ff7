module github.com/actua/actua/interop

go 1.26.0

require github.com/gopcua/opcua v0.8.0

require github.com/actua/actua v0.0.0

require github.com/google/uuid v1.6.0 // indirect

replace github.com/actua/actua => ../
