import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConsoleAssets, PageFile } from '../../protocols/http/page/page-answers.ts'
import type { PageParts } from '../../protocols/http/page/page-routes.ts'
import type { HttpCaller } from '../../protocols/http/routing/route.ts'
import { isLoopback } from '../../core/text/ip-address.ts'
import type { Settings } from '../../settings/settings.ts'
import type { AuthenticationMode } from '../process/authentication-mode.ts'

/** Beside the bundled program. */
const DIRECTORY = fileURLToPath(new URL('./console/', import.meta.url))

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html;charset=UTF-8',
  js: 'text/javascript;charset=UTF-8',
  css: 'text/css;charset=UTF-8',
  svg: 'image/svg+xml',
  txt: 'text/plain;charset=UTF-8',
}

/** The console: its files, read into memory, and who is shown them. */
export async function openConsole(
  mode: AuthenticationMode,
  { openToEveryone }: Pick<Settings, 'openToEveryone'>,
): Promise<PageParts> {
  return {
    page: await readPage(DIRECTORY),
    isShownTo: mode === 'on' || openToEveryone ? () => true : isOnThisMachine,
  }
}

/** Reads the files of the build; if they are missing, the page says why. */
export async function readPage(directory: string): Promise<ConsoleAssets> {
  try {
    const names = await readdir(directory, { recursive: true })
    if (!names.includes('index.html')) return { kind: 'missing', reason: await reasonIn(directory) }
    const paths = names.toSorted().map((name) => name.replaceAll('\\', '/'))
    const files = paths.filter((path) => contentTypeOf(path) !== undefined)
    return {
      kind: 'built',
      files: await Promise.all(files.map((path) => readPageFile(directory, path, paths))),
    }
  } catch (error) {
    return { kind: 'missing', reason: `It was not built (${(error as Error).message}): run npm run build.` }
  }
}

/** The reason that a failed build has left. */
async function reasonIn(directory: string): Promise<string> {
  const text = await readFile(join(directory, 'failure.log'), 'utf8').catch(() => '')
  return text === '' ? 'It was not built: run npm run build.' : `Its build failed:\n${text}`
}

async function readPageFile(directory: string, path: string, all: readonly string[]): Promise<PageFile> {
  const compressed = (ending: string) =>
    all.includes(`${path}.${ending}`) ? readFile(join(directory, `${path}.${ending}`)) : undefined
  return {
    path: path === 'index.html' ? '' : path,
    contentType: contentTypeOf(path)!,
    plain: await readFile(join(directory, path)),
    br: await compressed('br'),
    gzip: await compressed('gz'),
    isHashed: path.startsWith('assets/'),
  }
}

function contentTypeOf(path: string): string | undefined {
  return CONTENT_TYPES[path.slice(path.lastIndexOf('.') + 1)]
}

/** A client behind a proxy may be anywhere, wherever the proxy is. */
function isOnThisMachine({ socketIp, headers }: Pick<HttpCaller, 'socketIp' | 'headers'>): boolean {
  const isForwarded = Object.keys(headers).some(
    (name) => name === 'forwarded' || name.startsWith('x-forwarded-'),
  )
  return isLoopback(socketIp) && !isForwarded
}
