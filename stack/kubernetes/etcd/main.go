// Runs etcd of the release that the API server is made for; that of Debian 12 is too old for its
// watches.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
