/** The suites in a checkout of the Java server, and how they are compiled without its server. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './prepare.js'

const execute = promisify(execFile)
const own = join(root, 'scripts', 'java-suites')
const MAX_OUTPUT = 64 * 1024 * 1024

/** The differences between the generations, by the start of the version. */
const GENERATIONS = {
  1.4: { modules: ['test'], release: '8', classifier: '' },
  2.5: {
    modules: ['test/config-test', 'test/core-test', 'test/naming-test'],
    release: '17',
    // Its dependencies are not renamed, as the suites expect.
    classifier: 'pure',
  },
}
/** Of these the published artifacts are used. */
const PUBLISHED = new Set(['api', 'client', 'common'])

/**
 * Compiles the suites of a checkout, each module apart. Classes of the server that a suite refers to are compiled with it;
 * `Nacos` is ours. `isLeftOut` takes the name of a suite, which is not compiled then. Resolves with the version, the suites and
 * the folder of the compiled suites.
 */
export async function compileSuites(checkout, isLeftOut) {
  const version = versionOf(checkout)
  const generation = GENERATIONS[version.slice(0, 3)]
  if (generation === undefined) throw new Error(`the suites of ${version} are not known to this script`)
  const scratch = join(root, '.cache', 'java-suites', version)
  const lib = await fetchLibraries(scratch, { version, classifier: generation.classifier })
  const suites = []
  for (const module of generation.modules) {
    const tests = join(checkout, module, 'src', 'test')
    const files = suiteFiles(tests)
    const classes = join(scratch, basename(module))
    const chosen = files.filter(({ name }) => !isLeftOut(name))
    const named = [...chosen.map(({ file }) => file), ...serviceFiles(tests)]
    await compile(named, { tests, checkout, lib, classes, release: generation.release })
    const classpath = [classes, join(tests, 'resources'), join(lib, '*')].join(delimiter)
    suites.push(...chosen.map((one) => ({ ...one, classpath })))
  }
  return { version, suites, scratch }
}

function versionOf(checkout) {
  const pom = join(checkout, 'pom.xml')
  const found = existsSync(pom) && /<revision>([^<]+)<\/revision>/.exec(readFileSync(pom, 'utf8'))
  if (!found) throw new Error(`${checkout} is no checkout of the Java server`)
  return found[1]
}

/** Downloads what the suites need, unless that is done. */
async function fetchLibraries(scratch, { version, classifier }) {
  const pom = readFileSync(join(own, 'pom.xml'), 'utf8')
  const stamp = join(scratch, 'pom.xml')
  const lib = join(scratch, 'lib')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === pom) return lib
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { recursive: true })
  cpSync(own, join(scratch, 'project'), { recursive: true })
  const settings = [
    `-Dnacos.version=${version}`,
    `-Dnacos.classifier=${classifier}`,
    `-DoutputDirectory=${lib}`,
  ]
  await execute('mvn', ['-q', '-B', 'dependency:copy-dependencies', ...settings], {
    cwd: join(scratch, 'project'),
    maxBuffer: MAX_OUTPUT,
  })
  writeFileSync(stamp, pom)
  return lib
}

/** The files that hold tests, with the names of their classes. Abstract classes are part of others. */
function suiteFiles(tests) {
  const sources = join(tests, 'java')
  return readdirSync(sources, { recursive: true })
    .filter((file) => file.endsWith('.java'))
    .sort()
    .map((file) => ({ file: join(sources, file), text: readFileSync(join(sources, file), 'utf8') }))
    .filter(
      ({ text }) => /@(Test|RunWith|TestPropertySource)\b/.test(text) && !/\babstract class\b/.test(text),
    )
    .map(({ file, text }) => {
      const name = basename(file, '.java')
      return { file, name, text, className: `${/^package ([\w.]+);/m.exec(text)[1]}.${name}` }
    })
}

/** The files of classes that are loaded by their names. */
function serviceFiles(tests) {
  const services = join(tests, 'resources', 'META-INF', 'services')
  if (!existsSync(services)) return []
  return readdirSync(services, { withFileTypes: true })
    .flatMap(({ name }) => readFileSync(join(services, name), 'utf8').match(/^[\w.]+$/gm) ?? [])
    .map((className) => join(tests, 'java', ...className.split('.')) + '.java')
    .filter(existsSync)
}

async function compile(named, { tests, checkout, lib, classes, release }) {
  rmSync(classes, { recursive: true, force: true })
  mkdirSync(classes, { recursive: true })
  const sources = [join(tests, 'java'), ...serverSources(checkout)].join(delimiter)
  const flags = ['-nowarn', '-proc:none', '-encoding', 'UTF-8', '--release', release, '-implicit:class']
  const ours = ['Nacos.java', 'SuiteRunner.java'].map((file) => join(own, file))
  const paths = ['-cp', join(lib, '*'), '-sourcepath', sources, '-d', classes]
  await execute('javac', [...flags, ...paths, ...ours, ...named], { maxBuffer: MAX_OUTPUT })
}

/** The sources of the server, module by module. */
function serverSources(checkout) {
  const folders = ['', 'plugin', 'plugin-default-impl'].map((folder) => join(checkout, folder))
  return folders
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((module) => ({ module, folder })))
    .filter(({ module, folder }) => folder !== checkout || !PUBLISHED.has(module))
    .map(({ module, folder }) => join(folder, module, 'src', 'main', 'java'))
    .filter(existsSync)
}
