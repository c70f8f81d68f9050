import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../controls/icon.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import type { Needed } from './users-with-right.ts'

type DialogModule = typeof import('./connect-dialog.tsx')
type DialogProps = DialogModule['ConnectDialog'] extends ComponentType<infer P> ? P : never

/** Opens the code that connects an application. It is loaded then: few people need it often. */
export function ConnectButton(props: Needed) {
  const [Shown, setShown] = useState<ComponentType<DialogProps> | undefined>()
  const open = async (): Promise<void> => {
    const { ConnectDialog } = await import('./connect-dialog.tsx')
    setShown(() => ConnectDialog)
  }
  return (
    <>
      <button type="button" class="button" onClick={() => void open().catch(tellProblem)}>
        <Icon name="client" />
        {t('connect')}
      </button>
      {Shown !== undefined && <Shown {...props} onClose={() => setShown(undefined)} />}
    </>
  )
}
