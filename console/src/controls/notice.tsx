import type { ComponentChildren } from 'preact'
import type { Loaded } from '../live/loaded.ts'
import type { RequestProblem } from '../server/problem.ts'
import { phraseText, language, textIfAny, t } from '../language/text.ts'
import { Icon, type IconName } from './icon.tsx'

/** A text that people should read before they continue. */
export function Notice(props: {
  readonly kind: 'good' | 'warn' | 'bad' | 'plain'
  readonly children: ComponentChildren
  readonly icon?: IconName
  /** Whether it stays in sight while the page is scrolled. */
  readonly isInSight?: boolean
}) {
  const { kind, children, icon = 'warn', isInSight = false } = props
  return (
    <div class={`notice ${kind} ${isInSight ? 'in-sight' : ''}`} role={kind === 'bad' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  )
}

/** The text of a problem, in the language of the page, and in the words of the server. */
export function ProblemNotice(props: {
  readonly problem: RequestProblem | undefined
  readonly onRetry?: (() => void) | undefined
  /** Whether what was read before is still shown. */
  readonly isOldShown?: boolean
}) {
  const { problem, onRetry, isOldShown = false } = props
  if (problem === undefined) return null
  const [what, todo] = whatAndTodo(problemTitle(problem))
  return (
    <Notice kind="bad" isInSight={isOldShown}>
      <strong>{what}</strong>
      {todo !== '' && <p>{todo}</p>}
      {isOldShown && <p>{t('oldIsShown')}</p>}
      {problemText(problem) !== '' && <p class="soft">{problemText(problem)}</p>}
      {onRetry && problem.code !== 'forbidden' && (
        <button type="button" class="button small" onClick={onRetry}>
          {t('tryAgain')}
        </button>
      )}
    </Notice>
  )
}

/** The first sentence of a problem, without the advice. */
export const problemEvent = (problem: RequestProblem): string => whatAndTodo(problemTitle(problem))[0]

/** Splits a text into the event, which is its first sentence, and the advice. */
function whatAndTodo(text: string): readonly [string, string] {
  const [, what = text, todo = ''] = /^(.+?[.。])\s*(\S.*)$/.exec(text) ?? []
  return [what, todo]
}

/** Why something could not be read; it stays in sight where older rows are shown meanwhile. */
export function LoadProblem(props: {
  readonly found: Pick<Loaded<unknown>, 'value' | 'problem' | 'reload'>
  readonly isOldShown?: boolean
}) {
  const { found, isOldShown = found.value !== undefined } = props
  return <ProblemNotice problem={found.problem} onRetry={found.reload} isOldShown={isOldShown} />
}

/** A problem in the language of the page. */
export function problemTitle({ code, status }: RequestProblem): string {
  return textIfAny(`problem.${code}`) ?? t('problem.other', { status })
}

/** Those whose title says all that a person can use. */
const SAID_BY_TITLE = new Set([
  'forbidden',
  'unknown-user',
  'weak-password',
  'config-changed',
  'service-not-empty',
])
/** Those whose words nobody but the server has: they name what is in a file. */
const SAID_BY_SERVER = new Set(['bad-archive'])
/** Those whose title leaves it to the next line what would be right. */
const ASKS_FOR_A_VALUE = new Set([
  'invalid-parameter',
  'missing-parameter',
  'gray-rule',
  'too-large',
  'too-many',
])

/** The details of a problem. The server speaks English: another language gets what the fields say, and the words of the server
 * only where nothing else is known.
 */
export function problemText({ code, detail, parameter, allowed }: RequestProblem): string {
  const isKnown = textIfAny(`problem.${code}`) !== undefined
  if (isKnown && SAID_BY_TITLE.has(code)) return ''
  if (!isKnown || language.value === 'en' || SAID_BY_SERVER.has(code)) return detail
  const isAsked = allowed !== undefined && ASKS_FOR_A_VALUE.has(code)
  const isAllowed = isAsked ? t('isAllowed', { allowed: phraseText(allowed) }) : ''
  return `${parameter === undefined ? '' : t('ofParameter', { parameter })}${isAllowed}`
}

/** Where a list has nothing to show. */
export function Nothing(props: { readonly text: string; readonly children?: ComponentChildren }) {
  return (
    <div class="nothing">
      <Icon name="empty" />
      <p class="soft">{props.text}</p>
      {props.children}
    </div>
  )
}
