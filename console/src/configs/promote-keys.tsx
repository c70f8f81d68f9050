import { useState } from 'preact/hooks'
import { Dialog } from '../controls/dialog.tsx'
import { Check, DialogButtons } from '../controls/field.tsx'
import { Written } from '../controls/written.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { LoadProblem, Notice } from '../controls/notice.tsx'
import { loadEditor } from '../editor/code-view.tsx'
import type { ChangedKey, Unlisted } from '../../../src/formats/changed-keys.ts'
import { sayFinding } from '../editor/phrases.ts'
import { shownNumber, t } from '../language/text.ts'
import { type ConfigItem, type ConfigName, readConfig } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import { namespaceName } from '../state/namespaces.ts'
import { PublishFlow } from '../publishing/publish-flow.tsx'
import { formatOf } from '../publishing/format-of.ts'

interface Sides {
  readonly source: ConfigItem
  readonly target: ConfigItem
  /** Undefined where one of the texts has no keys. */
  readonly keys: readonly ChangedKey[] | undefined
  readonly why: Unlisted['why'] | undefined
  readonly count: number
}

/** Brings single keys of an item to another namespace. All other keys there keep their values: its addresses, its passwords. */
export function PromoteKeys(props: {
  readonly from: ConfigName
  readonly to: ConfigName
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { from, to, onClose, onDone } = props
  const found = useLoaded(JSON.stringify([from, to]), () => readSides(from, to))
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [content, setContent] = useState<string | undefined>()
  const [cannot, setCannot] = useState(false)
  const { value } = found
  const review = async (): Promise<void> => {
    if (value === undefined || ticked.size === 0) return
    const { target, source } = value
    const taken = { target: target.content, source: source.content, keys: [...ticked] }
    const made = await (await loadEditor()).applyKeys(formatOf(target.type, target.dataId), taken)
    setCannot(made === undefined)
    setContent(made)
  }
  if (value !== undefined && content !== undefined)
    return (
      <PublishFlow
        base={value.target}
        edit={{ ...value.target, content }}
        onClose={() => setContent(undefined)}
        onPublished={() => {
          onClose()
          onDone()
        }}
        onMerged={setContent}
      />
    )
  const name = namespaceName(to.tenant)
  return (
    <Dialog
      title={t('promoteKeysTitle', { item: to.dataId, name })}
      onClose={onClose}
      onSubmit={() => void review()}
      footer={<DialogButtons done={t('review')} onCancel={onClose} isDisabled={ticked.size === 0} />}
    >
      <NamespaceMark id={to.tenant} />
      <p>{t('promoteKeysText', { name })}</p>
      <LoadProblem found={found} />
      {value !== undefined && (value.keys === undefined || cannot) && (
        <Notice kind="warn">
          {cannot
            ? t('promoteKeysCannot')
            : value.why === undefined
              ? t('acrossNoKeys')
              : t('noKeys', { text: sayFinding(value.why) })}
        </Notice>
      )}
      {value?.keys !== undefined && <KeyChoices {...{ ticked }} keys={value.keys} onTick={setTicked} />}
      {value?.keys !== undefined && value.count > value.keys.length && (
        <p class="soft">{t('andMore', { count: shownNumber(value.count - value.keys.length) })}</p>
      )}
    </Dialog>
  )
}

async function readSides(from: ConfigName, to: ConfigName): Promise<Sides> {
  const [source, target] = await Promise.all([readConfig(from), readConfig(to)])
  const format = formatOf(target.type, target.dataId)
  const keys = await (await loadEditor()).changedKeys(format, target.content, source.content)
  const listed = keys !== undefined && 'first' in keys ? keys : undefined
  const why = keys !== undefined && 'why' in keys ? keys.why : undefined
  return { source, target, keys: listed?.first, count: listed?.count ?? 0, why }
}

function KeyChoices(props: {
  readonly keys: readonly ChangedKey[]
  readonly ticked: ReadonlySet<string>
  readonly onTick: (ticked: ReadonlySet<string>) => void
}) {
  const { keys, ticked, onTick } = props
  const tick = (key: string, isOn: boolean): void => {
    const next = new Set(ticked)
    if (isOn) next.add(key)
    else next.delete(key)
    onTick(next)
  }
  return (
    <ul class="keys choices" tabIndex={0} aria-label={t('changedKeys', { count: shownNumber(keys.length) })}>
      {keys.map(({ key, before, after, isSecret }) => (
        <li key={key}>
          <Check
            label={<strong dir="auto">{key}</strong>}
            isOn={ticked.has(key)}
            // Keys that only the target has stay.
            isDisabled={after === undefined}
            onChange={(isOn) => tick(key, isOn)}
          />
          {before !== undefined && <Written isSecret={isSecret} text={before} />}
          {after === undefined ? (
            <span class="soft">{t('staysThere')}</span>
          ) : (
            <>
              → <Written isSecret={isSecret} text={after} />
            </>
          )}
        </li>
      ))}
    </ul>
  )
}
