import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/waypost.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), 'utf8')) as T

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  /** A part of this project, such as the console. */
  readonly link?: boolean
}

const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json')
const locked = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
)
const running = locked.filter(([, { dev }]) => dev !== true)

const { dependencies } = read<{ dependencies: Record<string, string> }>('package.json')
const { BUNDLED } = (await import(pathToFileURL(join(root, 'scripts/bundle.js')).href)) as {
  BUNDLED: readonly string[]
}
/** The code that the server loads: packages that are installed with it, and packages that are part of it. */
const loaded = [...Object.keys(dependencies), ...BUNDLED]

interface Bill {
  readonly bomFormat: string
  readonly metadata: { readonly component: { readonly name: string } }
  readonly components: readonly { readonly name: string; readonly group?: string; readonly version: string }[]
}

function makeBill(): Bill {
  const file = join(temporaryDirectory('sbom-'), 'sbom.json')
  // A registry that nobody is at: nothing may be asked of it.
  const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9' }
  execFileSync(process.execPath, [join(root, 'scripts/sbom.js'), file], { env })
  return JSON.parse(readFileSync(file, 'utf8')) as Bill
}

describe('dependencies', () => {
  test('are few', () => {
    const pages = ['0008-dependencies.md', '0026-the-build-bundles.md']
    const reasons = pages.map((page) => readFileSync(join(root, 'docs/decisions', page), 'utf8')).join('\n')
    for (const name of loaded) expect(reasons, `${name} needs its reason there`).toContain(`\`${name}\``)
    expect(loaded.length).toBeLessThanOrEqual(11)
    expect(makeBill().components.length).toBeLessThanOrEqual(50)
  })

  test('are locked by their content, without an address', () => {
    for (const [path, { integrity, resolved }] of locked) {
      expect(integrity, path).toMatch(/^sha512-/)
      expect(resolved, path).toBeUndefined()
    }
  })

  test('have no install scripts, neither at run time nor for the build', () => {
    expect(
      locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path),
    ).toEqual([])
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m)
  })

  test('are all on the bill of materials, which is made from the lock file', () => {
    const bill = makeBill()
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'waypost' } } })
    const listed = bill.components.map(({ name, version }) => `${name}@${version}`)
    for (const name of loaded)
      expect(listed).toContain(`${name}@${packages[`node_modules/${name}`]?.version}`)
    expect(listed.join(' ')).not.toMatch(/vitest|typescript|rolldown/)
    for (const [path, { version }] of running) {
      expect(listed).toContain(`${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`)
    }
  })
})
