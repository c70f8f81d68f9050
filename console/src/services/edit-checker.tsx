import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Check, DialogButtons, SelectField, TextField } from '../controls/field.tsx'
import { ProblemNotice } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { type HealthChecker, saveChecker, type ServiceCluster, type ServiceName } from '../server/services.ts'

const TYPES = ['TCP', 'HTTP', 'MYSQL', 'NONE'] as const
const LARGEST_PORT = 65_535

/** A checker as people type it: answers have no password. */
interface EditedChecker extends HealthChecker {
  readonly pwd?: string
}

/**
 * Changes how the persistent instances of a cluster are probed. A value that answers do not show stays where its field is left
 * empty.
 */
export function EditChecker(props: {
  readonly name: ServiceName
  readonly cluster: ServiceCluster
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { name, cluster, onClose, onDone } = props
  const [checker, setChecker] = useState<EditedChecker>(cluster.healthChecker)
  const [port, setPort] = useState(String(cluster.defaultCheckPort))
  const [usesOwnPort, setUsesOwnPort] = useState(cluster.useIPPort4Check)
  const isPort = /^\d+$/.test(port) && Number(port) <= LARGEST_PORT
  const { isBusy, problem, run } = useDoing(async () => {
    const healthChecker = ownFields(checker)
    await saveChecker(name, {
      ...cluster,
      healthChecker,
      defaultCheckPort: Number(port),
      useIPPort4Check: usesOwnPort,
    })
    tell(t('saved'))
    onClose()
    onDone()
  }, name.namespaceId)
  return (
    <Dialog
      title={t('editCheckerOf', { name: cluster.name })}
      onClose={onClose}
      onSubmit={() => void (isPort && run())}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} isDisabled={!isPort} />}
    >
      <p class="soft">{t('checkerText')}</p>
      <SelectField
        label={t('healthCheck')}
        value={checker.type}
        choices={TYPES.map((type) => [type, type === 'NONE' ? t('checkerNone') : type] as const)}
        onChange={(type) => setChecker({ ...checker, type: type as EditedChecker['type'] })}
      />
      <CheckerFields checker={checker} onChange={setChecker} />
      <Check label={t('ownPort')} isOn={usesOwnPort} onChange={setUsesOwnPort} />
      {!usesOwnPort && (
        <TextField
          label={t('checkPort')}
          value={port}
          wrong={isPort ? undefined : t('portWrong')}
          onInput={setPort}
        />
      )}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}

function CheckerFields(props: {
  readonly checker: EditedChecker
  readonly onChange: (checker: EditedChecker) => void
}) {
  const { checker, onChange } = props
  const field = (key: 'path' | 'headers' | 'user' | 'cmd', label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      isCode
      value={checker[key] ?? ''}
      onInput={(value) => onChange({ ...checker, [key]: value })}
    />
  )
  if (checker.type === 'HTTP')
    return (
      <>
        {field('path', t('checkerPath'))}
        {field('headers', t('checkerHeaders'), t('checkerHeadersHint'))}
        <TextField
          label={t('checkerStatus')}
          value={String(checker.expectedResponseCode ?? 200)}
          onInput={(value) => onChange({ ...checker, expectedResponseCode: Number(value) || 0 })}
        />
      </>
    )
  if (checker.type !== 'MYSQL') return null
  return (
    <>
      {field('user', t('username'))}
      <TextField
        label={t('password')}
        type="password"
        hint={t('passwordStays')}
        value={checker.pwd ?? ''}
        onInput={(pwd) => onChange({ ...checker, pwd })}
      />
      {field('cmd', t('checkerQuery'))}
    </>
  )
}

/** The fields that a type has; an empty password is left out, so that it stays. */
function ownFields({
  type,
  path,
  headers,
  expectedResponseCode,
  user,
  cmd,
  pwd,
}: EditedChecker): EditedChecker {
  if (type === 'HTTP')
    return {
      type,
      path: path ?? '/',
      headers: headers ?? '',
      expectedResponseCode: expectedResponseCode ?? 200,
    }
  if (type === 'MYSQL') return { type, user: user ?? '', cmd: cmd ?? '', ...(pwd ? { pwd } : {}) }
  return { type }
}
