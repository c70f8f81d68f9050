import { SVC_RULES, Type } from '../../parameters/schema.ts'
import { Refusal } from '../../../core/refusal.ts'
import { problemErrors } from '../errors/problem.ts'
import { textAnswer } from '../routing/answers.ts'
import { route, type HttpCaller, type Route, type Answer } from '../routing/route.ts'
import { answersOfFile, PAGE_HEADERS, type ConsoleAssets } from './page-answers.ts'

/** Dependencies of the routes of the console. */
export interface PageParts {
  readonly page: ConsoleAssets
  /** Whether the console is shown to this caller; the server decides what it may then do. */
  readonly isShownTo: (caller: HttpCaller) => boolean
}

/**
 * `/ui` and the files below it, each a route. All addresses in the page are relative, so that it works below any path
 * of a proxy.
 */
export function pageRoutes(parts: PageParts): Route[] {
  return [pageRoute('/', ({ headers }) => rootAnswer(headers.accept)), ...consoleRoutes(parts)]
}

/** People who open the address of the server get the console; programs get the answer of an unknown path. */
function rootAnswer(accepted: string | undefined): Answer {
  if (accepted?.includes('text/html') === true) return TO_PAGE
  throw new Refusal('unknown-path', 'There is nothing at this path. The console is at /ui.')
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
      shown(() => TO_PAGE),
    ),
    ...files,
  ]
}

function pageRoute(path: string, answer: (caller: HttpCaller) => Answer): Route {
  return route({
    method: 'GET',
    path,
    summary: 'The console',
    permission: { action: 'read', resource: 'public' },
    params: Type.Object({}),
    rules: SVC_RULES,
    errors: problemErrors,
    handle: ({ caller }) => answer(caller),
  })
}

function plain(status: number, text: string): Answer {
  return textAnswer(`${text}\n`, status, PAGE_HEADERS)
}

/** Relative: behind a proxy, the path of this server may begin with more. */
const TO_PAGE: Answer = textAnswer('', 302, {
  ...PAGE_HEADERS,
  Location: 'ui/',
  'Cache-Control': 'no-cache',
  Vary: 'Accept',
})

const NOT_SHOWN = plain(
  403,
  'Authentication is off, so the console is shown to browsers on the machine of the server only, and not through a proxy. ' +
    'Turn authentication on (setting auth), or let everybody in (setting open-to-everyone). Nothing else is affected.',
)
