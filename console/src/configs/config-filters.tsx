import { Check, SelectField, TextField } from '../controls/field.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { t } from '../language/text.ts'
import { CONFIG_TYPES } from '../server/configs.ts'

/** The parameters of the address by which the list is narrowed. */
export const FILTERS = ['text', 'content', 'key', 'group', 'tag', 'type'] as const

/** The fields by which the list is narrowed. Typing waits a moment before it searches. */
export function ConfigFilters(props: {
  readonly params: Readonly<Record<string, string>>
  readonly isFiltered: boolean
}) {
  const { params, isFiltered } = props
  const { valueOf, type, show } = useTypedParams()
  const field = (name: (typeof FILTERS)[number], label: string, placeholder = '') => (
    <TextField
      label={label}
      type="search"
      isWide={name === 'text'}
      placeholder={placeholder}
      value={valueOf(name)}
      onInput={(value) => type(name, value)}
    />
  )
  const types = CONFIG_TYPES.map((type) => [type, type.toUpperCase()] as const)
  return (
    <div class="filters" role="search">
      {field('text', t('search'), t('searchHint'))}
      {field('content', t('inContents'))}
      {field('key', t('inKeys'), 'server.port')}
      {field('group', t('group'), 'DEFAULT_GROUP')}
      {field('tag', t('tag'))}
      <SelectField
        label={t('type')}
        value={params['type'] ?? ''}
        choices={[['', t('all')], ...types]}
        onChange={(chosen) => show({ type: chosen })}
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
