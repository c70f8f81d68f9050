/**
 * `npm run sbom`: writes the software bill of materials of what runs (CycloneDX), sbom.json or the file that is named,
 * from the lock alone: nothing is installed or fetched for it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLED } from './bundle.js'
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

const bill = whatRuns(JSON.parse(output))
// npm calls the project by the directory that it happens to be in.
const { name, version } = readJson('package.json')
bill.metadata.component.name = name
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)
console.log(`${file}: ${name} ${version} and ${bill.components.length} packages`)

/** The dependencies, the packages that are bundled, and all that they need: npm takes the bundled ones for tools. */
function whatRuns(whole) {
  const roots = new Set([...Object.keys(readJson('package.json').dependencies), ...BUNDLED])
  const isRoot = ({ name, group }) => roots.has(group ? `${group}/${name}` : name)
  const needs = new Map(whole.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]))
  const project = whole.metadata.component['bom-ref']
  const first = whole.components.filter((one) => isRoot(one) && needs.get(project).includes(one['bom-ref']))
  const kept = new Set(first.map((one) => one['bom-ref']))
  // A loop over a Set also visits values that are added during the loop.
  for (const ref of kept) for (const needed of needs.get(ref) ?? []) kept.add(needed)
  kept.add(project)
  return {
    ...whole,
    components: whole.components
      .filter((one) => kept.has(one['bom-ref']))
      .map((one) => (isDevelopment(one) ? { ...one, scope: 'required' } : one)),
    dependencies: whole.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map((one) => ({ ...one, dependsOn: one.dependsOn?.filter((ref) => kept.has(ref)) })),
  }
}

/** True for a package that is bundled: npm calls it optional. */
function isDevelopment({ properties = [] }) {
  return properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}
