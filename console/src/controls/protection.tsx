import { useState } from 'preact/hooks'
import { t } from '../language/text.ts'
import { isProtected, namespaceName, refreshNamespaces } from '../state/namespaces.ts'
import { Store, useStore } from '../state/store.ts'
import { Dialog } from './dialog.tsx'
import { DialogButtons, TextField } from './field.tsx'
import { NamespaceMark } from './namespace-mark.tsx'

interface Asked {
  readonly id: string
  readonly answer: (goesOn: boolean) => void
}

const asked = new Store<Asked | undefined>(undefined)

/**
 * Whether something may be written in a namespace. A protected one asks for its name first: people mistake one namespace for
 * another. Somebody may have protected it since the page was opened.
 */
export async function confirmWrite(id: string): Promise<boolean> {
  await refreshNamespaces().catch(() => undefined)
  if (!isProtected(id)) return true
  return new Promise((resolve) => asked.set({ id, answer: resolve }))
}

/** The question of {@link confirmWrite}. */
export function ProtectionDialog() {
  const question = useStore(asked)
  return question === undefined ? null : <Question {...question} />
}

function Question({ id, answer }: Asked) {
  const [typed, setTyped] = useState('')
  const name = namespaceName(id)
  const isTyped = typed.trim() === name.trim()
  const end = (goesOn: boolean): void => {
    asked.set(undefined)
    answer(goesOn)
  }
  return (
    <Dialog
      title={t('protectionTitle', { name })}
      onClose={() => end(false)}
      onSubmit={() => isTyped && end(true)}
      footer={<DialogButtons done={t('goOn')} onCancel={() => end(false)} isDisabled={!isTyped} isDanger />}
    >
      <NamespaceMark id={id} />
      <p>{t('protectionText')}</p>
      <TextField label={t('typeName', { name })} isCode hasFocus value={typed} onInput={setTyped} />
    </Dialog>
  )
}
