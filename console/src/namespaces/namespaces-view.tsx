import { useState } from 'preact/hooks'
import { Confirm, useDoing } from '../controls/confirm.tsx'
import { CopyButton } from '../controls/copy.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { DialogButtons, LongTextField, TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import { createNamespace, type Namespace, removeNamespace, renameNamespace } from '../server/namespaces.ts'
import { useLoaded } from '../state/loaded.ts'
import { namespaceParam, namespaces, refreshNamespaces } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { isAdministrator } from '../state/user.ts'

type Open = { readonly kind: 'new' } | { readonly kind: 'edit' | 'delete'; readonly namespace: Namespace }

/** The namespaces, with their colours. */
export function NamespacesView() {
  const read = useLoaded('namespaces', refreshNamespaces)
  const list = useStore(namespaces) ?? []
  const [open, setOpen] = useState<Open | undefined>()
  const close = (): void => setOpen(undefined)
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('namespaces')}</h1>
        </div>
        {isAdministrator() && (
          <button type="button" class="button primary" onClick={() => setOpen({ kind: 'new' })}>
            <Icon name="plus" />
            {t('newNamespace')}
          </button>
        )}
      </div>
      <ProblemNotice problem={read.problem} onRetry={read.reload} />
      <div class="card table-card">
        <table>
          <thead>
            <tr>
              <th>{t('name')}</th>
              <th>ID</th>
              <th class="not-phone">{t('description')}</th>
              <th class="number">{t('configs')}</th>
              <th class="actions">
                <span class="hidden">{t('actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {list.map((namespace) => (
              <NamespaceRow key={namespace.id} namespace={namespace} onOpen={setOpen} />
            ))}
          </tbody>
        </table>
      </div>
      {open?.kind === 'new' && <NamespaceDialog onClose={close} />}
      {open?.kind === 'edit' && <NamespaceDialog namespace={open.namespace} onClose={close} />}
      {open?.kind === 'delete' && <DeleteNamespace namespace={open.namespace} onClose={close} />}
    </>
  )
}

function NamespaceRow({ namespace, onOpen }: { namespace: Namespace; onOpen: (open: Open) => void }) {
  const { id, name, desc, configCount, isDefault } = namespace
  return (
    <tr>
      <td class="name">
        <a href={linkTo('configs', { ns: namespaceParam(id) })}>
          <NamespaceMark id={id} />
        </a>
      </td>
      <td>
        {id === '' ? (
          <span class="soft">{t('noId')}</span>
        ) : (
          <span class="meter">
            <code>{id}</code>
            <CopyButton text={id} label={t('copyName', { name: id })} />
          </span>
        )}
      </td>
      <td class="not-phone" dir="auto">
        {desc}
      </td>
      <td class="number">{shownNumber(configCount)}</td>
      <td class="actions">
        {!isDefault && isAdministrator() && (
          <div class="buttons">
            <button
              type="button"
              class="button small icon"
              aria-label={t('editNamed', { name })}
              onClick={() => onOpen({ kind: 'edit', namespace })}
            >
              <Icon name="edit" />
            </button>
            <button
              type="button"
              class="button small icon danger-quiet"
              aria-label={t('deleteNamed', { name })}
              onClick={() => onOpen({ kind: 'delete', namespace })}
            >
              <Icon name="trash" />
            </button>
          </div>
        )}
      </td>
    </tr>
  )
}

function NamespaceDialog({ namespace, onClose }: { namespace?: Namespace; onClose: () => void }) {
  const [id, setId] = useState(namespace?.id ?? '')
  const [name, setName] = useState(namespace?.name ?? '')
  const [desc, setDesc] = useState(namespace?.desc ?? '')
  const [isTaken, setTaken] = useState(false)
  const { isBusy, problem, run } = useDoing(async () => {
    const isDone =
      namespace === undefined ? await createNamespace(id, name, desc) : await renameNamespace(id, name, desc)
    setTaken(!isDone)
    if (!isDone) return
    await refreshNamespaces()
    tell(t('saved'))
    onClose()
  })
  const isReady = name.trim() !== ''
  return (
    <Dialog
      title={namespace === undefined ? t('newNamespace') : t('editNamed', { name: namespace.name })}
      onClose={onClose}
      onSubmit={() => void (isReady && run())}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} isDisabled={!isReady} />}
    >
      <TextField label={t('name')} hasFocus value={name} onInput={setName} />
      <TextField
        label="ID"
        hint={t('namespaceIdHint')}
        isCode
        isReadOnly={namespace !== undefined}
        value={id}
        wrong={isTaken ? t('idTaken') : undefined}
        onInput={setId}
      />
      <LongTextField label={t('description')} value={desc} onInput={setDesc} />
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}

function DeleteNamespace({ namespace, onClose }: { namespace: Namespace; onClose: () => void }) {
  const { id, name, configCount } = namespace
  const [typed, setTyped] = useState('')
  return (
    <Confirm
      title={t('deleteNamed', { name })}
      done={t('delete')}
      isDisabled={typed !== id}
      onClose={onClose}
      onDo={async () => {
        await removeNamespace(id)
        await refreshNamespaces()
        tell(t('namespaceDeleted', { name }))
        onClose()
      }}
    >
      {configCount > 0 && (
        <Notice kind="warn">{t('namespaceHasConfigs', { count: shownNumber(configCount) })}</Notice>
      )}
      <p>{t('deleteNamespaceText')}</p>
      <TextField label={t('typeId', { id })} isCode hasFocus value={typed} onInput={setTyped} />
    </Confirm>
  )
}
