import { Dialog } from '../controls/dialog.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { DiffView } from '../editor/code-view.tsx'
import { t } from '../language/text.ts'
import { type ConfigName, readConfig } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import { ChangedKeys } from '../publishing/review-sheet.tsx'
import { formatOf } from '../publishing/format-of.ts'

/** Two items side by side: what is in the target left, what would come right. */
export function CompareTexts(props: {
  /** Undefined: there is none. */
  readonly from: ConfigName | undefined
  readonly to: ConfigName | undefined
  readonly title: string
  readonly titles: readonly [string, string]
  readonly onClose: () => void
}) {
  const { from, to, title, titles, onClose } = props
  const found = useLoaded(JSON.stringify([from, to]), () =>
    Promise.all([to, from].map(async (name) => (name === undefined ? undefined : readConfig(name)))),
  )
  const [left, right] = found.value ?? []
  const item = right ?? left
  const type = item === undefined ? 'text' : formatOf(item.type, item.dataId)
  const [before, after] = [left?.content ?? '', right?.content ?? '']
  return (
    <Dialog
      isWide
      title={title}
      onClose={onClose}
      footer={
        <button type="button" class="button" onClick={onClose}>
          {t('close')}
        </button>
      }
    >
      <LoadProblem found={found} />
      {found.value && (
        <>
          <div>
            <div class="diff-titles">
              <span dir="auto">{titles[0]}</span>
              <span dir="auto">{titles[1]}</span>
            </div>
            <DiffView before={before} after={after} type={type} label={t('difference')} />
          </div>
          <ChangedKeys before={before} after={after} type={type} />
        </>
      )}
    </Dialog>
  )
}
