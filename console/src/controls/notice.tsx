import type { ComponentChildren } from 'preact'
import type { Problem } from '../server/problem.ts'
import { textIfAny, t } from '../language/text.ts'
import { Icon, type IconName } from './icon.tsx'

/** A text that people should read before they go on. */
export function Notice(props: {
  readonly kind: 'warn' | 'bad' | 'plain'
  readonly children: ComponentChildren
  readonly icon?: IconName
}) {
  const { kind, children, icon = 'warn' } = props
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  )
}

/** What went wrong, in the language of the page, and in the words of the server. */
export function ProblemNotice(props: {
  readonly problem: Problem | undefined
  readonly onRetry?: (() => void) | undefined
}) {
  const { problem, onRetry } = props
  if (problem === undefined) return null
  return (
    <Notice kind="bad">
      <strong>{problemTitle(problem)}</strong>
      {problem.detail !== '' && <p class="soft">{problem.detail}</p>}
      {onRetry && (
        <button type="button" class="button small" onClick={onRetry}>
          {t('tryAgain')}
        </button>
      )}
    </Notice>
  )
}

/** A problem in the language of the page. */
export function problemTitle({ code, status }: Problem): string {
  return textIfAny(`problem.${code}`) ?? t('problem.other', { status })
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
