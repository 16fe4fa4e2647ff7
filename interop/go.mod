module github.com/actua/actua/interop

go 1.26.0

require github.com/gopcua/opcua v0.8.0

require (
	github.com/actua/actua v0.0.0
	software.sslmate.com/src/go-pkcs12 v0.7.4
)

require (
	github.com/google/uuid v1.6.0 // indirect
	golang.org/x/crypto v0.59.0 // indirect
)

replace github.com/actua/actua => ../
