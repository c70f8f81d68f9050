/**
 * `npm run wire-types`: writes the code and types of messages from .proto files: those of etcd, and for the client of the
 * tests those of clients that use gRPC. Needs protoc on the path (Debian: protobuf-compiler). Its
 * plugin has a package file and lock of its own, in scripts/wire-types: it brings another TypeScript, which nobody else should
 * install.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { npmCommand, root, run } from './prepare.js'

const tools = join(root, 'scripts', 'wire-types')
/** The directories of .proto files, and of the code made from them. */
const PLACES = [
  [join('packages', 'etcd-client', 'src', 'proto'), join('packages', 'etcd-client', 'src', 'generated')],
  [join('src', 'protocols', 'grpc', 'proto'), join('test', 'support', 'generated')],
]

const [command, ...first] = npmCommand()
await runOrEnd(command, [...first, 'ci', '--prefix', tools, '--ignore-scripts', '--loglevel=error'])
for (const [proto, generated] of PLACES) {
  const protos = join(root, proto)
  await runOrEnd('protoc', [
    `--plugin=protoc-gen-es=${join(tools, 'node_modules', '.bin', 'protoc-gen-es')}`,
    `--es_out=${join(root, generated)}`,
    '--es_opt=target=js+dts,import_extension=js',
    `--proto_path=${protos}`,
    ...readdirSync(protos),
  ])
}
async function runOrEnd(program, args) {
  const { code } = await run(program, args)
  if (code !== 0) process.exit(1)
}
