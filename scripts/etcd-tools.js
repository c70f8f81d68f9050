/** Builds etcdctl and etcdutl for the tests, from their Go modules into .cache. Run by itself it prints the files. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtGoProgram } from './go-program.js'
import { root } from './prepare.js'

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const name of ['etcdctl', 'etcdutl']) console.log(await builtEtcdTool(name))

/** The file of a tool of etcd, `etcdctl` or `etcdutl`, built if it is not there yet. Rejects with the output of Go if it cannot be built. */
export function builtEtcdTool(name) {
  return builtGoProgram(name, join(root, 'scripts', 'etcd-tools'), [`go.etcd.io/etcd/${name}/v3`])
}
