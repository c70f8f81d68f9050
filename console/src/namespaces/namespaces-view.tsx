import { useState } from 'preact/hooks'
import { Confirm, useDoing } from '../controls/confirm.tsx'
import { CopyButton } from '../controls/copy.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Check, DialogButtons, LongTextField, SelectField, TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Notice, LoadProblem, ProblemNotice } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { NewNameField } from '../controls/new-name-field.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import {
  createNamespace,
  type Namespace,
  NAMESPACE_COLOURS,
  type NamespaceColour,
  removeNamespace,
  renameNamespace,
  setLook,
} from '../server/namespaces.ts'
import { anyOf } from '../live/meant.ts'
import { useLoaded } from '../live/loaded.ts'
import {
  isNameOfOther,
  namespaceName,
  namespaceParam,
  namespaces,
  refreshNamespaces,
} from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { isAdministrator } from '../state/user.ts'

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'relist' | 'delete'; readonly namespace: Namespace }

/** The namespaces, with their colours. */
export function NamespacesView() {
  const read = useLoaded('namespaces', refreshNamespaces, anyOf('namespace', 'config'))
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
      <LoadProblem found={read} isOldShown={list.length > 0} />
      <div class="card table-card">
        <table>
          <thead>
            <tr>
              <th>{t('name')}</th>
              <th>ID</th>
              <th class="not-phone">{t('description')}</th>
              <th class="number">{t('configCount')}</th>
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
      {open?.kind === 'relist' && <NamespaceDialog isNew namespace={open.namespace} onClose={close} />}
      {open?.kind === 'delete' && <DeleteNamespace namespace={open.namespace} onClose={close} />}
    </>
  )
}

function NamespaceRow({ namespace, onOpen }: { namespace: Namespace; onOpen: (open: Open) => void }) {
  const { id, desc, configCount, isListed } = namespace
  const name = namespaceName(id)
  return (
    <tr>
      <td class="name">
        <a href={linkTo('configs', { ns: namespaceParam(id) })}>
          <NamespaceMark id={id} />
        </a>
        {!isListed && <div class="soft">{t('notListed')}</div>}
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
        {isAdministrator() && (
          <div class="buttons">
            {!isListed && (
              <button
                type="button"
                class="button small"
                onClick={() => onOpen({ kind: 'relist', namespace })}
              >
                {t('putOnList')}
              </button>
            )}
            <button
              type="button"
              class="button small icon"
              aria-label={t('editNamed', { name })}
              onClick={() => onOpen({ kind: 'edit', namespace })}
            >
              <Icon name="edit" />
            </button>
            {id !== '' && isListed && (
              <button
                type="button"
                class="button small icon danger-quiet"
                aria-label={t('deleteNamed', { name })}
                onClick={() => onOpen({ kind: 'delete', namespace })}
              >
                <Icon name="trash" />
              </button>
            )}
          </div>
        )}
      </td>
    </tr>
  )
}

/**
 * Makes a namespace, or changes one. Only the look can change of the default one, and of one that is not on
 * the list.
 */
function NamespaceDialog(props: {
  readonly namespace?: Namespace
  readonly isNew?: boolean
  readonly onClose: () => void
}) {
  const { namespace, onClose, isNew = namespace === undefined } = props
  const [id, setId] = useState(namespace?.id ?? '')
  const [name, setName] = useState(namespace?.name ?? '')
  const [desc, setDesc] = useState(namespace?.desc ?? '')
  const [colour, setColour] = useState<NamespaceColour>(namespace?.colour ?? 'none')
  const [isProtected, setProtected] = useState(namespace?.isProtected ?? false)
  const [isTaken, setTaken] = useState(false)
  const hasName = isNew || (namespace !== undefined && namespace.id !== '' && namespace.isListed)
  const { isBusy, problem, run } = useDoing(async () => {
    const isDone =
      !hasName ||
      (await (isNew ? createNamespace(id.trim(), name.trim(), desc) : renameNamespace(id, name.trim(), desc)))
    setTaken(!isDone)
    if (!isDone) return
    const isOther = colour !== namespace?.colour || isProtected !== namespace.isProtected
    if (!isNew && isOther) await setLook(id, { colour, isProtected })
    await refreshNamespaces()
    tell(t('saved'))
    onClose()
  }, namespace?.id)
  const isReady = name.trim() !== ''
  const isRepeated = hasName && isNameOfOther(name.trim(), isNew ? undefined : id)
  return (
    <Dialog
      title={
        namespace === undefined ? t('newNamespace') : t('editNamed', { name: namespaceName(namespace.id) })
      }
      onClose={onClose}
      onSubmit={() => void (isReady && run())}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} isDisabled={!isReady} />}
    >
      <NewNameField
        label={t('name')}
        hasFocus
        isReadOnly={!hasName}
        value={name}
        onInput={setName}
        {...(isRepeated && { hint: t('nameRepeated') })}
      />
      {namespace === undefined ? (
        <NewNameField
          label="ID"
          hint={t('namespaceIdHint')}
          isCode
          value={id}
          wrong={isTaken ? t('idTaken') : undefined}
          onInput={setId}
        />
      ) : (
        <p>
          ID <code>{id === '' ? 'public' : id}</code> <span class="soft">{t('idStays')}</span>
          {isTaken && <span class="wrong"> {t('idTaken')}</span>}
        </p>
      )}
      {hasName && <LongTextField label={t('description')} value={desc} onInput={setDesc} />}
      {!isNew && (
        <>
          <SelectField
            label={t('colour')}
            value={colour}
            choices={NAMESPACE_COLOURS.map((each) => [each, t(`colour.${each}`)] as const)}
            onChange={(chosen) => setColour(chosen as NamespaceColour)}
          />
          <Check label={t('protectIt')} isOn={isProtected} onChange={setProtected} />
        </>
      )}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}

function DeleteNamespace({ namespace, onClose }: { namespace: Namespace; onClose: () => void }) {
  const { id, configCount } = namespace
  const shown = namespaceName(id)
  const [typed, setTyped] = useState('')
  return (
    <Confirm
      title={t('deleteNamed', { name: shown })}
      done={t('delete')}
      isDisabled={typed !== id}
      onClose={onClose}
      onDo={async () => {
        await removeNamespace(id)
        await refreshNamespaces()
        tell(t('namespaceDeleted', { name: shown }))
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
