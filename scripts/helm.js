/** Builds helm for the tests and the release, from its Go module into .cache/helm. Run by itself it prints the file. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtGoProgram } from './go-program.js'
import { root } from './prepare.js'

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await builtHelm())

/** The file of helm, built if it is not there yet. Rejects with the output of Go if it cannot be built. */
export function builtHelm() {
  // One built from its module alone believes in a very old Kubernetes.
  const version = 'helm.sh/helm/v3/pkg/chartutil'
  const flags = `-s -w -X ${version}.k8sVersionMajor=1 -X ${version}.k8sVersionMinor=30`
  return builtGoProgram('helm', join(root, 'scripts', 'helm'), [
    '-ldflags',
    flags,
    'helm.sh/helm/v3/cmd/helm',
  ])
}
