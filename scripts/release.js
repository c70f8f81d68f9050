/**
 * `npm run release -- VERSION`: sets the version and the heading of the changelog, and makes in `release/` all that is uploaded: the
 * package, archives, Debian packages, images, the chart, the bill of materials and SHA256SUMS. It uploads nothing, and prints how
 * to. With `--dry-run` it only prints the steps; `--out DIR` takes another directory.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { builtHelm } from './helm.js'
import { endWithNpm, npmCommand, prepare, root as project, run } from './prepare.js'

const ARCHITECTURES = ['x64', 'arm64']

/** The files that name the version, and where. Each pattern has the version in its second group. */
const VERSIONED = [
  ['package.json', /^(\{\s*"name": "waypost",\s*"version": ")([^"]+)/],
  ['package-lock.json', /("name": "waypost",\s*"version": ")([^"]+)/g],
  ['deploy/helm/waypost/Chart.yaml', /^(version: |appVersion: )(\S+)/gm],
  ['deploy/compose.yaml', /(:-waypost:)([^}]+)/g],
  ['deploy/compose.cluster.yaml', /(:-waypost:)([^}]+)/g],
]

/** The pages that name files of a release: `waypost-1.2.3.tgz`, `waypost_1.2.3_amd64.deb`, `waypost:1.2.3`. */
const PAGES = ['docs/install.md', 'docs/recipes/run-it.md']

/** The steps that make the files, in this order. Each gets the directory that it fills, and answers nothing. */
const MAKERS = {
  npm: async (out) => runNpm(['pack', '--pack-destination', out]),
  archive: async (out) => forEachArchitecture('archive', out),
  deb: async (out) => forEachArchitecture('deb', out),
  image: async (out) => forEachArchitecture('image', out),
  chart: async (out) => runAll(await builtHelm(), ['package', join('deploy', 'helm', 'waypost'), '-d', out]),
  sbom: async (out) => runAll(process.execPath, [join('scripts', 'sbom.js'), join(out, 'waypost.cdx.json')]),
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()

async function main() {
  endWithNpm()
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string', default: 'release' } },
  })
  try {
    const [version, ...others] = positionals
    if (version === undefined || others.length > 0)
      throw new Error('usage: npm run release -- VERSION [--dry-run] [--out DIR]')
    const isDryRun = values['dry-run']
    if (!isDryRun) await refuseChanges()
    await release({ version, out: resolve(project, values.out), isDryRun })
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

/**
 * Makes a release; rejects before anything is changed where the version or the changelog is not right. `makers`, `root`, `date` and
 * `print` are other ones in tests.
 */
export async function release({
  version,
  out,
  isDryRun = false,
  root = project,
  makers = { prepare, ...MAKERS },
  date = new Date().toISOString().slice(0, 10),
  print = console.log,
}) {
  const texts = releasedTexts({ root, version, date })
  const { prepare: prepareAll, ...parts } = makers
  if (isDryRun) {
    print(`Would change ${[...texts.keys()].join(', ')}`)
    print(`Would make ${Object.keys(parts).join(', ')} and SHA256SUMS in ${out}`)
    return print(uploads(version, out))
  }
  if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`${out} is not empty: remove it first`)
  for (const [file, text] of texts) writeFileSync(join(root, file), text)
  await prepareAll?.()
  for (const [name, make] of Object.entries(parts)) {
    print(`Making ${name}`)
    const directory = join(out, name)
    mkdirSync(directory, { recursive: true })
    await make(directory)
    if (readdirSync(directory).length === 0) throw new Error(`${name} made no file`)
  }
  writeFileSync(join(out, 'SHA256SUMS'), checksums(out))
  return print(uploads(version, out))
}

/** The texts of the files with the version in them. Throws where the version is no newer one, or the changelog has no heading for it. */
function releasedTexts({ root, version, date }) {
  if (!/^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(version))
    throw new Error(`${version} is no version such as 1.2.3`)
  const read = (file) => readFileSync(join(root, file), 'utf8')
  const before = JSON.parse(read('package.json')).version
  if (isOlder(version, before)) throw new Error(`${version} is older than ${before}, the version now`)
  const texts = new Map()
  for (const [file, pattern] of VERSIONED) {
    const text = read(file)
    const changed = text.replace(pattern, (_, start) => start + version)
    if (!text.match(pattern)) throw new Error(`${file} does not name the version where it should`)
    texts.set(file, changed)
  }
  for (const page of PAGES) {
    const text = ['-', '_', ':'].reduce(
      (sofar, mark) => sofar.replaceAll(`waypost${mark}${before}`, `waypost${mark}${version}`),
      read(page),
    )
    texts.set(page, text)
  }
  // A date is there where an earlier try failed.
  const heading = new RegExp(
    `^## ${version.replaceAll('.', '\\.')} \\((not released yet|[\\d-]{10})\\)$`,
    'm',
  )
  const changes = read('CHANGELOG.md')
  if (!heading.test(changes))
    throw new Error(`CHANGELOG.md has no heading "## ${version} (not released yet)"`)
  texts.set('CHANGELOG.md', changes.replace(heading, `## ${version} (${date})`))
  return texts
}

/** Compares the three numbers. */
function isOlder(version, other) {
  const [one, two] = [version, other].map((text) => text.split('-')[0].split('.').map(Number))
  const at = one.findIndex((number, i) => number !== two[i])
  return at !== -1 && one[at] < two[at]
}

/** The text of SHA256SUMS, which `sha256sum -c` reads: every file below the directory. */
function checksums(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const lines = files.map((file) => {
    const sum = createHash('sha256').update(readFileSync(file)).digest('hex')
    return `${sum}  ${relative(directory, file).split(sep).join('/')}\n`
  })
  return lines.toSorted((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join('')
}

/** The steps left to do by hand. */
function uploads(version, out) {
  const here = relative(process.cwd(), out)
  const shown = here === '' || here.startsWith('..') || isAbsolute(here) ? out : here
  return `
Nothing was uploaded. Look at it, run .ci/run, then:
  git commit -am 'Release ${version}' && git tag -s v${version} && git push --follow-tags
  npm publish ${join(shown, 'npm', `waypost-${version}.tgz`)}
  for each image in ${join(shown, 'image')}: skopeo copy oci-archive:FILE docker://REGISTRY/waypost:${version}-ARCH, then a list of both as ${version}
  helm push ${join(shown, 'chart', `waypost-${version}.tgz`)} oci://REGISTRY/charts
  the page of the release: ${['archive', 'deb', 'sbom', 'SHA256SUMS'].map((name) => join(shown, name)).join(', ')}
Then begin the next version: a heading "## NEXT (not released yet)" in CHANGELOG.md.`
}

async function refuseChanges() {
  const { output } = await run('git', ['status', '--porcelain'], { capture: true })
  if (output !== '') throw new Error(`There are changes that are not committed:\n${output}`)
}

async function forEachArchitecture(script, out) {
  for (const arch of ARCHITECTURES)
    await runNpm(['run', '--silent', script, '--', '--arch', arch, '--out', out])
}

async function runNpm(args) {
  const [command, ...first] = npmCommand()
  await runAll(command, [...first, ...args])
}

async function runAll(command, args) {
  const { code } = await run(command, args)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
}
