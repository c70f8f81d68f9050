import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...['docs', 'src', 'packages'].flatMap(filesIn).filter((file) => file.endsWith('.md')),
]
const FILES = ['src', 'packages', 'test', 'scripts', 'bench', 'console/src', 'docs', 'dist'].flatMap(filesIn)
/** The names of source files and pages. */
const SOURCE = /[\w-]\.(?:tsx?|js|md|proto|rs|go|py|sh)$/
const FOLDER = /^(?:src|packages|test|scripts|bench|console\/src|docs)\//

test.each(PAGES.filter(isInForce))('the files and folders that %s names exist', (page) => {
  const named = [...read(page).matchAll(/`([\w./-]+)`/g)].map(([, path]) => path!.replace(/\/$/, ''))
  const paths = named.filter((path) => FOLDER.test(path) || SOURCE.test(path))
  expect(paths.filter((path) => !isThere(path))).toEqual([])
})

test.each(PAGES)('the links of %s lead somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)]
  const broken = links.filter(([, path, anchor]) => {
    const target = path === '' ? page : join(dirname(page), path!)
    return !existsSync(join(root, target)) || (anchor !== '' && !anchorsOf(target).includes(anchor!))
  })
  expect(broken.map(([link]) => link)).toEqual([])
})

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, String(file)))
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8').replaceAll(/^\s*```[\s\S]*?^\s*```/gm, '')
}

/** A decision that another one supersedes describes code that may be gone. */
function isInForce(page: string): boolean {
  return !/^Superseded by/m.test(read(page))
}

/** A path may leave out its first folders: `liveness.ts`, `core/naming/liveness`. */
function isThere(path: string): boolean {
  return FILES.some((file) => file === path || file.endsWith(`/${path}`)) || existsSync(join(root, path))
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!)
  return headings.map((heading) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
