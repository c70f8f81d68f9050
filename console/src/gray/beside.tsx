import { ChangedKeys } from '../publishing/review-sheet.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { DiffView } from '../editor/code-view.tsx'
import { t } from '../language/text.ts'
import type { ConfigItem, ConfigName } from '../server/configs.ts'
import { type GrayVersion, readGrayText } from '../server/gray.ts'
import { useLoaded } from '../live/loaded.ts'
import { formatOf } from '../publishing/format-of.ts'

/** The formal text left, the gray one right. */
export function Beside(props: {
  readonly name: ConfigName
  /** The formal version; undefined where there is none. */
  readonly formal: ConfigItem | undefined
  readonly version: GrayVersion
}) {
  const { name, formal, version } = props
  const { grayName, md5 } = version
  const found = useLoaded(`${grayName} ${md5}`, () => readGrayText(name, grayName))
  if (found.value === undefined)
    return found.problem === undefined ? <p class="loading">{t('loading')}</p> : <LoadProblem found={found} />
  const type = formatOf(formal?.type ?? found.value.type ?? 'text', name.dataId)
  const [before, after] = [formal?.content ?? '', found.value.content]
  return (
    <>
      <div class="diff-titles">
        <span>{formal === undefined ? t('grayNoFormal') : t('formalVersion')}</span>
        <span dir="auto">{grayName}</span>
      </div>
      <DiffView before={before} after={after} type={type} label={t('difference')} />
      <ChangedKeys before={before} after={after} type={type} />
    </>
  )
}
