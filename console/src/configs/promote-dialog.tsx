import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { TextField } from '../controls/field.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { copyConfigs } from '../server/compare.ts'
import type { ImportOutcome } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import { namespaceName } from '../state/namespaces.ts'

/** An item of one side, and what is in its place on the other. */
export interface Promoted {
  readonly id: string
  readonly dataId: string
  readonly group: string
  /** The md5 in the target that was seen; empty where there is none. */
  readonly casMd5: string
  /** The md5 of the content to bring over. */
  readonly fromMd5: string
}

/** The md5 of both sides are sent: an item that has changed meanwhile is skipped, and the others are copied. */
const POLICY = 'SKIP'
const SHOWN_ROWS = 200

/**
 * Brings items to another namespace: a dry run says what would happen to each. The md5 of both sides, as they were compared, are
 * sent, so that one that somebody changes meanwhile is left alone.
 */
export function PromoteDialog(props: {
  readonly rows: readonly Promoted[]
  readonly to: string
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { rows, to, onClose, onDone } = props
  const [comment, setComment] = useState('')
  const name = namespaceName(to)
  const copied = rows.map(({ id, casMd5, fromMd5 }) => ({ id, casMd5, fromMd5 }))
  const trial = useLoaded(JSON.stringify([to, copied]), () =>
    copyConfigs(to, copied, { policy: POLICY, dryRun: true }),
  )
  const changed = new Set(trial.value && notCopied(rows, trial.value).map(nameOf))
  const promote = async (): Promise<void> => {
    const outcome = await copyConfigs(to, copied, { policy: POLICY, comment })
    tell(t('promoted', { count: shownNumber(outcome.succCount) }))
    const left = notCopied(rows, outcome).map(({ dataId }) => dataId)
    if (left.length > 0) tell(t('promoteSkipped', { names: left.join(', ') }), true)
    onClose()
    onDone()
  }
  return (
    <Confirm
      title={t('promoteTitle', { count: rows.length, name })}
      done={t('publish')}
      isDanger={false}
      isDisabled={trial.value === undefined}
      namespaceId={to}
      onClose={onClose}
      onDo={promote}
    >
      <NamespaceMark id={to} />
      <p>{t('promoteText')}</p>
      <LoadProblem found={trial} />
      {trial.value && (
        <ul class="keys" tabIndex={0} aria-label={t('wouldPublish')}>
          {rows.slice(0, SHOWN_ROWS).map((row) => (
            <li key={row.id}>
              <strong dir="auto">{row.dataId}</strong> <span dir="auto">{row.group}</span>
              <Fate row={row} isChanged={changed.has(nameOf(row))} />
            </li>
          ))}
          {rows.length > SHOWN_ROWS && (
            <li>{t('andMore', { count: shownNumber(rows.length - SHOWN_ROWS) })}</li>
          )}
        </ul>
      )}
      <TextField
        label={t('comment')}
        placeholder={t('commentHint')}
        value={comment}
        maxLength={512}
        onInput={setComment}
      />
    </Confirm>
  )
}

/** The items that are left as they are, also those whose original is gone. */
function notCopied(
  rows: readonly Promoted[],
  { skipData, failData, unrecognizedData }: ImportOutcome,
): readonly { readonly group: string; readonly dataId: string }[] {
  const gone = new Set(unrecognizedData.map(({ itemName }) => itemName))
  return [...skipData, ...failData, ...rows.filter(({ id }) => gone.has(`id ${id}`))]
}

/** The expected outcome of an item, and the sides that are compared. */
function Fate({ row: { casMd5, fromMd5 }, isChanged }: { row: Promoted; isChanged: boolean }) {
  if (isChanged) return <span class="badge bad">{t('problem.config-changed')}</span>
  return (
    <>
      <span class={casMd5 === '' ? 'badge good' : 'badge warn'}>
        {casMd5 === '' ? t('wouldCreate') : t('wouldReplace')}
      </span>
      <span class="soft">
        {casMd5 !== '' && `${casMd5} → `}
        {fromMd5}
      </span>
    </>
  )
}

const nameOf = ({ group, dataId }: { readonly group: string; readonly dataId: string }): string =>
  `${group} ${dataId}`
