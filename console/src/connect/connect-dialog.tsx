import { useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { t } from '../language/text.ts'
import { keep, readKept } from '../state/kept.ts'
import { isOpen } from '../state/user.ts'
import { ApplicationUser, NewApplicationUser } from './application-user.tsx'
import { type Snippet, snippetsFor } from './snippets.ts'
import { type Needed, NO_USER_YET } from './users-with-right.ts'
import { Waiting } from './waiting.tsx'

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
/** Clients compute their port for gRPC from the port of the address. */
const GRPC_OFFSET = 1000

/** A program that connects an application to this address, for a user of its own, and what arrives when it is started. */
export function ConnectDialog({ onClose, ...needed }: Needed & { readonly onClose: () => void }) {
  const [username, setUsername] = useState(isOpen() ? '' : NO_USER_YET)
  const [isMaking, setMaking] = useState(false)
  const [library, setLibrary] = useState(readKept('library') ?? 'Java')
  const { hostname, protocol } = location
  const port = Number(location.port) || PORTS[protocol]!
  const isTls = protocol === 'https:'
  const all = snippetsFor({ ...needed, host: hostname, port, isTls, username })
  const shown = all.find((one) => one.library === library) ?? all[0]!
  const choose = (chosen: string): void => {
    keep('library', chosen)
    setLibrary(chosen)
  }
  const ports = { host: hostname, port, grpc: port + GRPC_OFFSET }
  return (
    <>
      <Dialog
        isWide
        title={t('connectTitle')}
        onClose={onClose}
        footer={
          <>
            <span class="start">
              <NamespaceMark id={needed.namespaceId} />
            </span>
            <CopyButton text={shown.code} label={t('copyCode')} isWithText />
            <button type="button" class="button" onClick={onClose}>
              {t('close')}
            </button>
          </>
        }
      >
        <p>
          {t('connectText', { address: location.host })}{' '}
          {t(shown.isGrpc ? 'connectPorts' : 'connectPort', ports)}
        </p>
        {username !== '' && (
          <ApplicationUser
            needed={needed}
            value={username}
            onChange={setUsername}
            onNew={() => setMaking(true)}
          />
        )}
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
        <Program shown={shown} />
        {isTls && shown.isGrpc && <p class="soft">{t('connectTls')}</p>}
        {shown.file !== '' && <Waiting needed={needed} />}
      </Dialog>
      {isMaking && (
        <NewApplicationUser needed={needed} onClose={() => setMaking(false)} onMade={setUsername} />
      )}
    </>
  )
}

/** How the library is installed, the program, and how it is run. */
function Program({ shown: { install, file, code, run } }: { readonly shown: Snippet }) {
  return (
    <>
      {install !== '' && (
        <p>
          <code>{install}</code>
        </p>
      )}
      {file !== '' && (
        <p>
          <code>{file}</code>
        </p>
      )}
      <pre class="snippet" tabIndex={0}>
        {code}
      </pre>
      {run !== '' && (
        <p>
          <code>{run}</code>
        </p>
      )}
    </>
  )
}
