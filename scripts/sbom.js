/**
 * `npm run sbom`: writes the software bill of materials of what runs (CycloneDX), sbom.json or the file that is named,
 * from the lock alone: nothing is installed or fetched for it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npmCommand, root, run } from './prepare.js'

const file = process.argv[2] ?? join(root, 'sbom.json')
const [command, ...first] = npmCommand()
const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only']
const { code, output } = await run(command, [...first, ...args, '--offline', '--loglevel=silent'], {
  capture: true,
})
if (code !== 0) {
  console.error(`${output}\nThe bill of materials could not be made.`)
  process.exit(1)
}

const bill = withoutDevelopment(JSON.parse(output))
// npm calls the project by the directory that it happens to be in.
const { name, version } = readJson('package.json')
bill.metadata.component.name = name
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)
console.log(`${file}: ${name} ${version} and ${bill.components.length} packages`)

/** The option of npm for this also leaves out what runs and a tool needs as well. */
function withoutDevelopment(whole) {
  const { packages } = readJson('package-lock.json')
  const components = whole.components.filter(({ properties }) => !packages[pathOf(properties)]?.dev)
  const kept = new Set([whole.metadata.component['bom-ref'], ...components.map((one) => one['bom-ref'])])
  const dependencies = whole.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map((one) => ({ ...one, dependsOn: one.dependsOn?.filter((ref) => kept.has(ref)) }))
  return { ...whole, components, dependencies }
}

function pathOf(properties = []) {
  return properties.find((property) => property.name === 'cdx:npm:package:path')?.value
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}
