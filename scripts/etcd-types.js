/**
 * `npm run etcd-types`: writes the code and types of etcd's messages (src/store/etcd/client/generated) from the .proto files
 * beside it. Needs protoc on the path (Debian: protobuf-compiler). Its plugin has a package file and lock of its own, in
 * scripts/etcd-types: it brings another TypeScript, which nobody else should install.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { npmCommand, root, run } from './prepare.js'

const tools = join(root, 'scripts', 'etcd-types')
const client = join(root, 'src', 'store', 'etcd', 'client')
const generated = join(client, 'generated')

const [command, ...first] = npmCommand()
await runOrEnd(command, [...first, 'ci', '--prefix', tools, '--ignore-scripts', '--loglevel=error'])
const protos = readdirSync(join(client, 'proto'))
await runOrEnd('protoc', [
  `--plugin=protoc-gen-es=${join(tools, 'node_modules', '.bin', 'protoc-gen-es')}`,
  `--es_out=${generated}`,
  '--es_opt=target=js+dts,import_extension=js',
  `--proto_path=${join(client, 'proto')}`,
  ...protos,
])
async function runOrEnd(program, args) {
  const { code } = await run(program, args)
  if (code !== 0) process.exit(1)
}
