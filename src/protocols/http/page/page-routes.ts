import { PLAIN_RULES, Type } from '../../parameters/schema.ts'
import { Refusal } from '../../../core/refusal.ts'
import { pathOf } from '../../parameters/request-target.ts'
import { problemErrors } from '../errors/problem.ts'
import { textAnswer } from '../routing/answers.ts'
import { route, type ErrorFormat, type HttpCaller, type Route, type Answer } from '../routing/route.ts'
import { answersOfFile, PAGE_HEADERS, type ConsoleAssets } from './page-answers.ts'

/** Dependencies of the routes of the console. */
export interface PageParts {
  readonly page: ConsoleAssets
  /** Whether the console is shown to this caller; the server decides what it may then do. */
  readonly isShownTo: (caller: HttpCaller) => boolean
}

/**
 * `/ui` and the files below it, each a route, and the ways there; `errorsOf`: the errors of a dialect, for programs. All addresses in the page are relative, so that it works below any path
 * of a proxy.
 */
export function pageRoutes(parts: PageParts, errorsOf: (path: string) => ErrorFormat): Route[] {
  const ways = WAYS_TO_PAGE.map((way) => ({ ...wayToPage(way), errors: errorsOf(way[0]) }))
  return [...ways, ...consoleRoutes(parts)]
}

/**
 * Addresses that lead people to the console: the root, the addresses of other servers' consoles, and bookmarks below `/ui`.
 * The way from there is relative; undefined: it depends on the path.
 */
const WAYS_TO_PAGE = [
  ['/', 'ui/'],
  ['/nacos', 'ui/'],
  ['/nacos/', '../ui/'],
  ['/nacos/index.html', '../ui/'],
  ['/ui/*', undefined],
] as const

/** People get the console there; programs get the answer of an unknown path. */
function wayToPage([path, location]: (typeof WAYS_TO_PAGE)[number]): Route {
  return pageRoute(path, ({ headers }, target) => {
    if (headers.accept?.includes('text/html') === true && target !== undefined)
      return toPage(location ?? upFrom(pathOf(target)))
    throw new Refusal('unknown-path', 'There is nothing at this path. The console is at /ui.')
  })
}

/** From a path below `/ui/` to `/ui/`. */
function upFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 3) || './'
}

function consoleRoutes({ page, isShownTo }: PageParts): Route[] {
  const shown = (answerOf: (caller: HttpCaller) => Answer) => (caller: HttpCaller) =>
    isShownTo(caller) ? answerOf(caller) : NOT_SHOWN
  if (page.kind === 'missing') {
    const missing = plain(503, `The console is missing. ${page.reason}`)
    return ['/ui', '/ui/'].map((path) =>
      pageRoute(
        path,
        shown(() => missing),
      ),
    )
  }
  const files = page.files.map((file) => {
    const answerOf = answersOfFile(file)
    return pageRoute(
      `/ui/${file.path}`,
      shown(({ headers }) => answerOf(headers)),
    )
  })
  return [
    pageRoute(
      '/ui',
      shown(() => toPage('ui/')),
    ),
    ...files,
  ]
}

function pageRoute(path: string, answer: (caller: HttpCaller, target?: string) => Answer): Route {
  return route({
    method: 'GET',
    path,
    summary: 'The console',
    permission: { action: 'read', resource: 'public' },
    params: Type.Object({}),
    rules: PLAIN_RULES,
    errors: problemErrors,
    handle: ({ caller, target }) => answer(caller, target),
  })
}

function plain(status: number, text: string): Answer {
  return textAnswer(`${text}\n`, status, PAGE_HEADERS)
}

/** Relative: behind a proxy, the path of this server may begin with more. */
function toPage(location: string): Answer {
  return textAnswer('', 302, { ...PAGE_HEADERS, Location: location })
}

const NOT_SHOWN = plain(
  403,
  'Authentication is off, so the console is shown to browsers on the machine of the server only, and not through a proxy. ' +
    'Turn authentication on (setting auth), or let everybody in (setting open-to-everyone). Nothing else is affected.',
)
