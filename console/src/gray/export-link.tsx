import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { tell, tellProblem } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { exportAddress, exportItems } from '../server/configs.ts'
import { readGrayIn } from '../server/gray.ts'
import type { Download } from '../server/request.ts'

/** Downloads all items of a namespace as a zip file, and says how many gray versions are not in it. */
export function ExportLink(props: {
  readonly tenant: string
  readonly class: string
  readonly children: ComponentChildren
}) {
  const { tenant } = props
  const sayLeftOut = async (): Promise<void> => {
    const found = await readGrayIn(tenant)
    sayWithout(found.reduce((sum, { versions }) => sum + versions.length, 0))
  }
  return (
    <a
      class={props.class}
      download
      href={exportAddress(tenant)}
      // The download is what counts.
      onClick={() => void sayLeftOut().catch(() => undefined)}
    >
      {props.children}
    </a>
  )
}

/** Downloads some items of a namespace; thousands are too many for the address of a link. */
export function ExportButton(props: {
  readonly tenant: string
  readonly ids: readonly string[]
  readonly class: string
  readonly children: ComponentChildren
}) {
  const [isBusy, setBusy] = useState(false)
  const run = async (): Promise<void> => {
    const file = await exportItems(props.tenant, props.ids)
    save(file)
    sayWithout(file.grayLeftOut)
  }
  const start = (): void => {
    setBusy(true)
    void run()
      .catch(tellProblem)
      .finally(() => setBusy(false))
  }
  return (
    <button type="button" class={props.class} disabled={isBusy} onClick={start}>
      {props.children}
    </button>
  )
}

function sayWithout(count: number): void {
  if (count > 0) tell(t('exportWithoutGray', { count: shownNumber(count) }))
}

/** Browsers read the address soon after the click. */
const KEPT_MS = 60_000

function save({ blob, name }: Download): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
}
