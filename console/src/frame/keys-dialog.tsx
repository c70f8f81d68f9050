import { Dialog } from '../controls/dialog.tsx'
import { Check } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { t } from '../language/text.ts'
import { useStore } from '../state/store.ts'
import { areKeysShown, hasLetterKeys, ownGoes, setLetterKeys } from './shortcuts.ts'

/** The button that lists the keys; `?` does the same. */
export function KeysButton() {
  return (
    <button type="button" class="button quiet keys-button" onClick={() => areKeysShown.set(true)}>
      <Icon name="keyboard" />
      {t('keys')}
    </button>
  )
}

/** The effect of each key, and the switch for keys without Ctrl. */
export function KeysDialog() {
  const isShown = useStore(areKeysShown)
  const hasLetters = useStore(hasLetterKeys)
  if (!isShown) return null
  const close = (): void => areKeysShown.set(false)
  const always: readonly ShortcutRow[] = [
    [['Ctrl', 'Enter'], t('keyPublish')],
    [['Ctrl', 'K'], t('searchAll')],
    [['Ctrl', 'F'], t('keyFind')],
    [['Esc'], t('keyClose')],
  ]
  const letters: readonly ShortcutRow[] = [
    [['e'], t('keyEdit')],
    [['/'], t('searchAll')],
    [['?'], t('keys')],
    ...ownGoes().map(([key, , title]): ShortcutRow => [['g', key], t(title)]),
  ]
  return (
    <Dialog
      title={t('keys')}
      onClose={close}
      footer={
        <button type="button" class="button" onClick={close}>
          {t('close')}
        </button>
      }
    >
      <KeyList rows={always} />
      <Check label={t('letterKeys')} isOn={hasLetters} onChange={setLetterKeys} />
      {hasLetters && <KeyList rows={letters} />}
    </Dialog>
  )
}

/** The keys one after the other, and what they do. */
type ShortcutRow = readonly [keys: readonly string[], does: string]

function KeyList({ rows }: { rows: readonly ShortcutRow[] }) {
  return (
    <dl class="key-list">
      {rows.map(([keys, does]) => (
        <div key={keys.join(' ')}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  )
}
