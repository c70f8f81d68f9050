import { useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { t } from '../language/text.ts'
import { keep, readKept } from '../state/kept.ts'
import { username } from '../state/user.ts'
import { type Connected, snippetsFor } from './snippets.ts'

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Code that connects an application: for this address, this namespace and this user. */
export function ConnectDialog(props: {
  readonly namespaceId: string
  readonly about: Connected['about']
  readonly onClose: () => void
}) {
  const { namespaceId, about, onClose } = props
  const { hostname, port, protocol } = location
  const all = snippetsFor({
    host: hostname,
    port: Number(port) || PORTS[protocol]!,
    isTls: protocol === 'https:',
    namespaceId,
    username: username(),
    about,
  })
  const [library, setLibrary] = useState(readKept('library') ?? 'Java')
  const shown = all.find((one) => one.library === library) ?? all[0]!
  const choose = (chosen: string): void => {
    keep('library', chosen)
    setLibrary(chosen)
  }
  return (
    <Dialog
      isWide
      title={t('connectTitle')}
      onClose={onClose}
      footer={
        <>
          <span class="start">
            <NamespaceMark id={namespaceId} />
          </span>
          <CopyButton text={shown.code} label={t('copyCode')} isWithText />
          <button type="button" class="button" onClick={onClose}>
            {t('close')}
          </button>
        </>
      }
    >
      <p>{t('connectText', { address: location.host })}</p>
      <div class="segments" role="group" aria-label={t('library')}>
        {all.map((one) => (
          <button
            key={one.library}
            type="button"
            class="button small"
            aria-pressed={one === shown}
            onClick={() => choose(one.library)}
          >
            {one.library}
          </button>
        ))}
      </div>
      {shown.install !== '' && (
        <p>
          <code>{shown.install}</code>
        </p>
      )}
      <pre class="snippet" tabIndex={0}>
        {shown.code}
      </pre>
    </Dialog>
  )
}
