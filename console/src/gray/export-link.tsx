import type { ComponentChildren } from 'preact'
import { tell } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { type ConfigName, exportAddress } from '../server/configs.ts'
import { readGrayIn } from '../server/gray.ts'

/** Downloads items as a zip file, and says how many gray versions are not in it. */
export function ExportLink(props: {
  readonly tenant: string
  /** Undefined: all of the namespace. */
  readonly items?: readonly (ConfigName & { readonly id: string })[]
  readonly class: string
  readonly children: ComponentChildren
}) {
  const { tenant, items } = props
  const sayLeftOut = async (): Promise<void> => {
    const found = await readGrayIn(tenant)
    const isIn = ({ group, dataId }: ConfigName): boolean =>
      items?.some((item) => item.group === group && item.dataId === dataId) ?? true
    const count = found.filter(isIn).reduce((sum, { versions }) => sum + versions.length, 0)
    if (count > 0) tell(t('exportWithoutGray', { count: shownNumber(count) }))
  }
  return (
    <a
      class={props.class}
      download
      href={exportAddress(tenant, items?.map(({ id }) => id) ?? [])}
      // The download is what counts.
      onClick={() => void sayLeftOut().catch(() => undefined)}
    >
      {props.children}
    </a>
  )
}
