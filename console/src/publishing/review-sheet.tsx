import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, TextField } from '../controls/field.tsx'
import { later } from '../controls/later.tsx'
import { Written } from '../controls/written.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { DiffView, loadEditor } from '../editor/code-view.tsx'
import { type Finding, isWarning } from '../../../src/formats/finding.ts'
import { sayFinding } from '../editor/phrases.ts'
import { withLf } from '../editor/line-ends.ts'
import { FOR_ALL, isSaid, type Audience } from './audience.ts'
import { shownNumber, t } from '../language/text.ts'
import { readWatchers, type ConfigNotes } from '../server/configs.ts'
import type { GrayVersion } from '../server/gray.ts'
import type { RequestProblem } from '../server/problem.ts'
import { useLoaded } from '../live/loaded.ts'
import type { Base, Edit } from './edit.ts'
import { formatOf } from './format-of.ts'

const SHOWN_FINDINGS = 5
const AudienceSection = later(async () => (await import('./audience-section.tsx')).AudienceSection)

/** The changes of an edit, before it is published. */
export function ReviewSheet(props: {
  /** The time of the version that is restored; undefined: the edit is one of the author. */
  readonly restored: string | undefined
  readonly base: Base
  readonly edit: Edit
  readonly comment: string
  readonly onComment: (comment: string) => void
  /** For whom it is; undefined: for all, and nobody is asked. */
  readonly audience: Audience | undefined
  readonly onAudience: (audience: Audience) => void
  /** The gray versions of the item; undefined: they are not known yet. */
  readonly gray: readonly GrayVersion[] | undefined
  readonly isBusy: boolean
  readonly problem: RequestProblem | undefined
  readonly onClose: () => void
  readonly onPublish: () => void
}) {
  const { base, edit, restored, comment, onComment, isBusy, problem, onClose, onPublish } = props
  const { audience = FOR_ALL, onAudience, gray } = props
  const isComplete = isSaid(audience) && (audience.kind === 'all' || gray !== undefined)
  const name = base.dataId
  const format = formatOf(edit.type, name)
  const findings = useFindings(edit.content, format)
  return (
    <Dialog
      isWide
      title={
        restored !== undefined
          ? t('restoreTitle', { name, time: restored })
          : t(base.md5 === '' ? 'reviewNew' : 'reviewOf', { name })
      }
      onClose={onClose}
      onSubmit={() => isComplete && onPublish()}
      footer={
        <>
          <span class="start">
            <NamespaceMark id={base.tenant} />
          </span>
          <DialogButtons
            done={t(findings.some((one) => !isWarning(one)) ? 'publishAnyway' : 'publish')}
            onCancel={onClose}
            isBusy={isBusy}
            isDisabled={!isComplete}
          />
        </>
      }
    >
      <ProblemNotice problem={problem} />
      <Findings content={edit.content} format={format} findings={findings} />
      <div>
        <div class="diff-titles">
          <span>{base.md5 === '' ? t('nothingYet') : t('publishedText')}</span>
          <span>{restored === undefined ? t('yourText') : t('versionAt', { time: restored })}</span>
        </div>
        <DiffView before={base.content} after={edit.content} type={format} label={t('difference')} />
      </div>
      <ChangedNotes base={base} edit={edit} />
      <ChangedKeys before={base.content} after={edit.content} type={format} />
      <TextField
        label={t('comment')}
        placeholder={t('commentHint')}
        value={comment}
        maxLength={512}
        hasFocus
        onInput={onComment}
      />
      {props.audience !== undefined && (
        <AudienceSection name={base} audience={audience} onChange={onAudience} gray={gray} />
      )}
      {base.md5 !== '' && <WatcherCount base={base} />}
    </Dialog>
  )
}

/** The findings of the check of a text; none before it has ended. */
function useFindings(content: string, format: string): readonly Finding[] {
  const found = useLoaded(`${format}\n${content}`, async () => (await loadEditor()).check(format, content))
  return found.value ?? []
}

function Findings(props: {
  readonly content: string
  readonly format: string
  readonly findings: readonly Finding[]
}) {
  const { content, format, findings } = props
  if (findings.length === 0) return null
  const text = withLf(content)
  const errors = findings.filter((finding) => !isWarning(finding))
  const type = format.toUpperCase()
  return (
    <>
      <FindingList text={text} title={t('formIsWrong', { type })} findings={errors} />
      <FindingList text={text} title={t('mayBeMeantOtherwise')} findings={findings.filter(isWarning)} />
    </>
  )
}

function FindingList(props: {
  readonly text: string
  readonly title: string
  readonly findings: readonly Finding[]
}) {
  const { text, title, findings } = props
  if (findings.length === 0) return null
  const lineOf = (at: number): number => text.slice(0, at).split('\n').length
  return (
    <Notice kind="warn">
      <strong>{title}</strong>
      <ul>
        {findings.slice(0, SHOWN_FINDINGS).map((finding) => (
          <li key={`${finding.from} ${finding.code}`}>
            {t('lineSays', { line: lineOf(finding.from), text: sayFinding(finding) })}
          </li>
        ))}
        {findings.length > SHOWN_FINDINGS && (
          <li>{t('andMore', { count: shownNumber(findings.length - SHOWN_FINDINGS) })}</li>
        )}
      </ul>
    </Notice>
  )
}

function ChangedNotes({ base, edit }: { base: ConfigNotes; edit: ConfigNotes }) {
  const notes = [
    [t('type'), base.type, edit.type],
    [t('description'), base.desc, edit.desc],
    [t('application'), base.appName, edit.appName],
    [t('tags'), base.configTags, edit.configTags],
  ] as const
  const changed = notes.filter(([, before, after]) => before !== after)
  if (changed.length === 0) return null
  return (
    <section>
      <h3>{t('changedNotes')}</h3>
      <ul class="keys">
        {changed.map(([label, before, after]) => (
          <li key={label}>
            <strong>{label}</strong>
            {before !== '' && <del dir="auto">{before}</del>}
            {after !== '' && <ins dir="auto">{after}</ins>}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The keys that differ between two texts. */
export function ChangedKeys(props: {
  readonly before: string
  readonly after: string
  readonly type: string
}) {
  const { before, after, type } = props
  const keys = useLoaded(`${type}\n${before}\n\n${after}`, async () =>
    (await loadEditor()).changedKeys(type, before, after),
  ).value
  if (keys === undefined) return null
  if ('why' in keys)
    return (
      <Notice kind="plain">
        {t(keys.side === 'before' ? 'noKeysBefore' : 'noKeys', { text: sayFinding(keys.why) })}
      </Notice>
    )
  if (keys.count === 0) return null
  const unnamed = keys.count - keys.first.length
  return (
    <section>
      <h3>{t('changedKeys', { count: shownNumber(keys.count) })}</h3>
      <ul class="keys" tabIndex={0}>
        {keys.first.map(({ key, before: old, after: young, isSecret }) => (
          <li key={key}>
            <strong dir="auto">{key}</strong>
            {old !== undefined && (
              <del>
                <Written isSecret={isSecret} text={old} />
              </del>
            )}
            {young !== undefined && (
              <ins>
                <Written isSecret={isSecret} text={young} />
              </ins>
            )}
          </li>
        ))}
        {unnamed > 0 && <li>{t('andMore', { count: shownNumber(unnamed) })}</li>}
      </ul>
    </section>
  )
}

function WatcherCount({ base }: { base: Base }) {
  const watchers = useLoaded(JSON.stringify([base.tenant, base.group, base.dataId]), () => readWatchers(base))
  if (watchers.value === undefined) return null
  return <p class="soft">{t('watchedBy', { count: shownNumber(watchers.value.count) })}</p>
}
