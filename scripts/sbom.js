/**
 * `npm run sbom`: writes the software bill of materials of what runs (CycloneDX), sbom.json or the file that is named,
 * from the lock alone: nothing is installed or fetched for it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npmCommand, root, run } from './prepare.js'

const file = process.argv[2] ?? join(root, 'sbom.json')
const [command, ...first] = npmCommand()
const args = [
  'sbom',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
  '--omit=dev',
  '--package-lock-only',
]
const { code, output } = await run(command, [...first, ...args, '--offline', '--loglevel=error'], {
  capture: true,
})
if (code !== 0) {
  console.error(`${output}\nThe bill of materials could not be made.`)
  process.exit(1)
}

const bill = JSON.parse(output)
// npm calls the project by the directory that it happens to be in.
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
bill.metadata.component.name = name
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)
console.log(`${file}: ${name} ${version} and ${bill.components.length} packages`)
