// Runs the API server of Kubernetes, whose module cannot be installed by its name: it replaces the
// modules beside it by folders, which only its own repository has. go.mod names their releases.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
