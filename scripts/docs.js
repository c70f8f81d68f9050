/** `npm run docs`: writes the generated references of docs/, and the types of the console. With `--check` it writes nothing and fails if one is stale. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.js'
import { consoleTypes } from './console-types.js'
import { ensureInstalled, root } from './prepare.js'

await ensureInstalled()
const directory = join(root, '.cache', `docs-${process.pid}`)
const sources = {
  settings: 'src/settings/reference.ts',
  manual: 'src/command/manual.ts',
  errors: 'src/protocols/http/errors-reference.ts',
  api: 'src/api-document.ts',
}
await bundle(sources, directory)
const load = (name) => import(pathToFileURL(join(directory, `${name}.js`)).href)

/** Each generated file, and what makes its text. */
const documents = [
  ['docs/settings.md', async () => (await load('settings')).settingsReference()],
  ['docs/waypost.1', async () => (await load('manual')).manualPage()],
  ['docs/errors.md', async () => (await load('errors')).errorsReference()],
  ['docs/openapi.json', async () => (await load('api')).apiDocument()],
  // A chart reads files of its own directory only.
  ['deploy/helm/waypost/files/grafana.json', async () => read('docs/grafana.json')],
  ['docs/alerts.yaml', async () => alertRules(read('docs/operations.md'))],
  ['deploy/helm/waypost/files/rules.yaml', async () => alertRules(read('docs/operations.md'))],
  ['console/src/server/answers.ts', async () => consoleTypes(await (await load('api')).apiDocument())],
]

const read = (file) => readFileSync(join(root, file), 'utf8')

/** The rules that the page of operators shows. */
function alertRules(page) {
  return /### Alert rules to start with\n\n```yaml\n(.*?)```/s.exec(page)[1]
}

for (const [file, make] of documents) {
  const path = join(root, file)
  const text = await make()
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${file} is stale: run \`npm run docs\`.`)
    process.exitCode = 1
  } else {
    writeFileSync(path, text)
    console.log(`${file} written`)
  }
}
rmSync(directory, { recursive: true })
