import { useState } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Check, DialogButtons, LongTextField, SelectField, TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Notice, LoadProblem, ProblemNotice } from '../controls/notice.tsx'
import { tell } from '../controls/toast.tsx'
import { serverEn } from '../language/en-server.ts'
import { textIfAny, t } from '../language/text.ts'
import { readSwitches, setSwitch } from '../server/operator.ts'
import { anyOf } from '../live/meant.ts'
import { useLoaded } from '../live/loaded.ts'

/** The switches that cannot be set. */
const FIXED = new Set(['name', 'checksum', 'adWeightMap'])

/** The switches of the running server, the ones with an effect first, each with its meaning. */
export function SwitchesView() {
  const found = useLoaded('switches', readSwitches, anyOf('switch'))
  const [edited, setEdited] = useState<string | undefined>()
  const [text, setText] = useState('')
  const names = Object.keys(found.value ?? {}).filter((name) => !FIXED.has(name))
  names.sort((a, b) => placeOf(a) - placeOf(b))
  const shown = names.filter((name) => name.toLowerCase().includes(text.trim().toLowerCase()))
  const [withMeaning, without] = [true, false].map((hasMeaning) =>
    shown.filter((name) => (meaningOf(name) !== undefined) === hasMeaning),
  )
  return (
    <>
      <div class="head">
        <h1 class="title">{t('switches')}</h1>
      </div>
      <div class="filters" role="search">
        <TextField label={t('name')} type="search" isWide value={text} onInput={setText} />
      </div>
      <LoadProblem found={found} />
      {found.value && (
        <div class="card table-card">
          <table>
            <thead>
              <tr>
                <th>{t('name')}</th>
                <th>{t('value')}</th>
                <th class="actions">
                  <span class="hidden">{t('actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {[...withMeaning!, ...without!].map((name) => (
                <tr key={name}>
                  <td>
                    <strong>{name}</strong>
                    <div class="soft">{meaningOf(name) ?? t('switchWithoutEffect')}</div>
                  </td>
                  <td>
                    <code>{shownValue(found.value![name])}</code>
                  </td>
                  <td class="actions">
                    <button
                      type="button"
                      class="button small icon"
                      aria-label={t('editNamed', { name })}
                      onClick={() => setEdited(name)}
                    >
                      <Icon name="edit" />
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {edited !== undefined && found.value && (
        <SwitchDialog
          name={edited}
          value={found.value[edited]}
          onClose={() => setEdited(undefined)}
          onDone={found.reload}
        />
      )}
    </>
  )
}

/** In the order of their explanations: some refer to the one before. */
const ORDER = Object.keys(serverEn)
const placeOf = (name: string): number => ORDER.indexOf(`switch.${name}`)

const meaningOf = (name: string): string | undefined => textIfAny(`switch.${name}`)

function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function SwitchDialog(props: {
  readonly name: string
  readonly value: unknown
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { name, value, onClose, onDone } = props
  const [text, setText] = useState(shownValue(value))
  const [isStored, setStored] = useState(true)
  const { isBusy, problem, run } = useDoing(async () => {
    await setSwitch(name, text, isStored)
    tell(t('saved'))
    onClose()
    onDone()
  })
  return (
    <Dialog
      title={t('editNamed', { name })}
      onClose={onClose}
      onSubmit={() => void run()}
      footer={<DialogButtons done={t('save')} onCancel={onClose} isBusy={isBusy} />}
    >
      <p class="soft">{meaningOf(name) ?? t('switchWithoutEffect')}</p>
      {typeof value === 'boolean' ? (
        <SelectField
          label={t('value')}
          value={text}
          choices={[
            ['true', 'true'],
            ['false', 'false'],
          ]}
          onChange={setText}
        />
      ) : (
        <LongTextField label={t('value')} isCode value={text} onInput={setText} />
      )}
      <Check label={t('switchStored')} isOn={isStored} onChange={setStored} />
      {!isStored && <Notice kind="plain">{t('switchNotStored')}</Notice>}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}
