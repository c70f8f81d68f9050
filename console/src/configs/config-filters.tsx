import { useEffect, useState } from 'preact/hooks'
import { Check, SelectField, TextField } from '../controls/field.tsx'
import { t } from '../language/text.ts'
import { placeWith } from '../routing/link.ts'
import { go } from '../routing/location.ts'
import { CONFIG_TYPES } from '../server/configs.ts'

/** The parameters of the address by which the list is narrowed. */
export const FILTERS = ['text', 'content', 'key', 'type'] as const

const WAIT_MS = 250

/** The fields by which the list is narrowed. Typing waits a moment before it searches. */
export function ConfigFilters(props: {
  readonly params: Readonly<Record<string, string>>
  readonly isFiltered: boolean
}) {
  const { params, isFiltered } = props
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const show = (changed: Readonly<Record<string, string>>): void =>
    go(placeWith({ ...changed, page: '' }), { replace: true })
  useEffect(() => {
    if (Object.keys(typed).length === 0) return undefined
    const timer = setTimeout(() => {
      show(typed)
      setTyped({})
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const field = (name: (typeof FILTERS)[number], label: string, placeholder = '') => (
    <TextField
      label={label}
      type="search"
      isWide={name === 'text'}
      placeholder={placeholder}
      value={typed[name] ?? params[name] ?? ''}
      onInput={(value) => setTyped({ ...typed, [name]: value })}
    />
  )
  const types = CONFIG_TYPES.map((type) => [type, type.toUpperCase()] as const)
  return (
    <div class="filters" role="search">
      {field('text', t('search'), t('searchHint'))}
      {field('content', t('inContents'))}
      {field('key', t('inKeys'), 'server.port')}
      <SelectField
        label={t('type')}
        value={params['type'] ?? ''}
        choices={[['', t('all')], ...types]}
        onChange={(type) => show({ type })}
      />
      <Check
        label={t('allNamespaces')}
        isOn={params['everywhere'] === 'yes'}
        onChange={(isOn) => show({ everywhere: isOn ? 'yes' : '' })}
      />
      {isFiltered && (
        <button
          type="button"
          class="button quiet"
          onClick={() => show(Object.fromEntries(FILTERS.map((name) => [name, ''])))}
        >
          {t('clear')}
        </button>
      )}
    </div>
  )
}
