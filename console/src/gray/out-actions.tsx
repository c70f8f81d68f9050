import { useState } from 'preact/hooks'
import { LoadProblem } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import { type ConfigItem, type ConfigName, readConfig } from '../server/configs.ts'
import { RequestError } from '../server/problem.ts'
import { useLoaded } from '../live/loaded.ts'
import { Beside } from './beside.tsx'
import type { OutVersion } from './out-versions.ts'
import { PromoteDialog } from './promote-dialog.tsx'
import { StopDialog } from './stop-dialog.tsx'

interface OutProps {
  readonly out: OutVersion
  readonly onChanged: () => void
}

/** Promotes or stops a gray version in the list of all. */
export function OutActions({ out, onChanged }: OutProps) {
  const { item, version } = out
  const { grayName } = version
  const [open, setOpen] = useState<'promote' | 'stop' | undefined>()
  const close = (): void => setOpen(undefined)
  const button = (what: 'promote' | 'stop', text: string, kind: string) => (
    <button
      type="button"
      class={`button small ${kind}`}
      aria-label={`${text}: ${item.dataId} ${grayName}`}
      onClick={() => setOpen(what)}
    >
      {text}
    </button>
  )
  return (
    <div class="buttons">
      {button('promote', t('grayPromote'), '')}
      {button('stop', t('grayStop'), 'danger-quiet')}
      {open === 'promote' && <Promote {...{ out, onChanged }} onClose={close} />}
      {open === 'stop' && <StopDialog name={item} version={version} onClose={close} onDone={onChanged} />}
    </div>
  )
}

/** Shows both texts before the one replaces the other. */
function Promote({ out, onChanged, onClose }: OutProps & { readonly onClose: () => void }) {
  const { item, version, count } = out
  const found = useLoaded(JSON.stringify(item), () => readFormal(item))
  if (found.value === undefined) return <LoadProblem found={found} />
  const { formal } = found.value
  return (
    <PromoteDialog {...{ version, formal, count, onClose }} name={item} onDone={onChanged}>
      <Beside {...{ version, formal }} name={item} />
    </PromoteDialog>
  )
}

/** The version for all, if there is one. */
async function readFormal(name: ConfigName): Promise<{ readonly formal: ConfigItem | undefined }> {
  try {
    return { formal: await readConfig(name) }
  } catch (error) {
    const isNone = error instanceof RequestError && error.problem.code === 'config-not-found'
    if (isNone) return { formal: undefined }
    throw error
  }
}
