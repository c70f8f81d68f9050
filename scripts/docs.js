/** `npm run docs`: writes the generated references of docs/, and the types of answers. With `--check` it writes nothing and fails if one is stale. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerTypes } from './answer-types.js'
import { loaded } from './bundle.js'
import { build, ensureInstalled, root } from './prepare.js'

await ensureInstalled()
// The description of the interface is one of the files that a build makes.
await build()
const read = (file) => readFileSync(join(root, file), 'utf8')
const { settings, errors } = await loaded({
  settings: 'src/settings/reference.ts',
  errors: 'src/protocols/http/errors-reference.ts',
})
const { schemas } = JSON.parse(read('dist/openapi.json')).components
const alerts = alertRules(read('docs/operations.md'))

/** Each generated file with its text. */
const documents = {
  'docs/settings.md': settings.settingsReference(),
  'docs/errors.md': errors.errorsReference(),
  'docs/alerts.yaml': alerts,
  // A chart reads files of its own directory only.
  'deploy/helm/waypost/files/rules.yaml': alerts,
  'console/src/server/answers.ts': answerTypes(schemas, 'console/src'),
  'src/terminal/answers.ts': answerTypes(schemas, 'src/terminal'),
}

/** The rules that the page of operators shows. */
function alertRules(page) {
  return /### Alert rules to start with\n\n```yaml\n(.*?)```/s.exec(page)[1]
}

for (const [file, text] of Object.entries(documents)) {
  const path = join(root, file)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${file} is stale: run \`npm run docs\`.`)
    process.exitCode = 1
  } else {
    writeFileSync(path, text)
    console.log(`${file} written`)
  }
}
