/**
 * `npm run wire-types`: writes the code and types of messages from the .proto files of each directory `proto` into `generated`
 * beside it: those of etcd, and those of clients that use gRPC. Needs protoc on the path (Debian: protobuf-compiler). Its
 * plugin has a package file and lock of its own, in scripts/wire-types: it brings another TypeScript, which nobody else should
 * install.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { npmCommand, root, run } from './prepare.js'

const tools = join(root, 'scripts', 'wire-types')
const PLACES = [join('src', 'store', 'etcd', 'client'), join('src', 'protocols', 'grpc')]

const [command, ...first] = npmCommand()
await runOrEnd(command, [...first, 'ci', '--prefix', tools, '--ignore-scripts', '--loglevel=error'])
for (const place of PLACES) {
  const protos = join(root, place, 'proto')
  await runOrEnd('protoc', [
    `--plugin=protoc-gen-es=${join(tools, 'node_modules', '.bin', 'protoc-gen-es')}`,
    `--es_out=${join(root, place, 'generated')}`,
    '--es_opt=target=js+dts,import_extension=js',
    `--proto_path=${protos}`,
    ...readdirSync(protos),
  ])
}
async function runOrEnd(program, args) {
  const { code } = await run(program, args)
  if (code !== 0) process.exit(1)
}
