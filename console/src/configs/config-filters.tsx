import { useEffect, useRef, useState } from 'preact/hooks'
import { Check } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { PopoverButton } from '../controls/popover.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import type { TextKey } from '../language/en.ts'
import { t } from '../language/text.ts'
import { CONFIG_TYPES } from '../server/configs.ts'
import { filterIn, NAMED_FILTERS, type NamedFilter } from './filter-text.ts'

/** The parameters of the address by which the list is narrowed. */
export const FILTERS = ['text', ...NAMED_FILTERS] as const

type Params = Readonly<Record<string, string>>

const LABELS = {
  group: 'group',
  tag: 'tag',
  key: 'inKeys',
  content: 'inContents',
  type: 'type',
} as const satisfies Record<NamedFilter, TextKey>

/**
 * The field by which the list is narrowed. Text typed as `group:SHOP` becomes a chip beside the text; each is a parameter of
 * the address. Typing waits a moment before it searches.
 */
export function ConfigFilters({ params, isFiltered }: { params: Params; isFiltered: boolean }) {
  const { valueOf, type, show } = useTypedParams()
  const [typed, setTyped] = useState(params['text'] ?? '')
  const field = useRef<HTMLInputElement>(null)
  const text = params['text'] ?? ''
  useEffect(() => {
    // The address may have changed by other means than typing: the way back, a link.
    const isOwn = valueOf('text') !== text || withoutUnfinished(typed) === text
    if (!isOwn) setTyped(text)
  }, [text])
  const take = (value: string, isDone: boolean): void => {
    const { named, rest } = filterIn(value, isDone)
    setTyped(rest)
    if (Object.keys(named).length > 0) show({ text: withoutUnfinished(rest), ...named })
    else type('text', withoutUnfinished(rest))
  }
  const add = (name: NamedFilter): void => {
    setTyped(`${typed.trim()} ${name}:`.trimStart())
    field.current?.focus()
  }
  const chips = NAMED_FILTERS.filter((name) => params[name])
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        take(typed, true)
      }}
    >
      <div class="filter-field">
        <Icon name="search" />
        {/* Beside a changing list, the field would be moved, and lose the focus. */}
        <span class="chips">
          {chips.map((name) => (
            <button
              key={name}
              type="button"
              class="chip"
              aria-label={t('removeFilter', { name: `${name}:${params[name]}` })}
              onClick={() => show({ [name]: '' })}
            >
              <span dir="auto">{`${name}:${params[name]}`}</span>
              <Icon name="close" />
            </button>
          ))}
        </span>
        <input
          ref={field}
          type="search"
          aria-label={t('search')}
          placeholder={chips.length === 0 ? t('searchHint') : ''}
          value={typed}
          spellcheck={false}
          autocomplete="off"
          dir="auto"
          onInput={(event) => take(event.currentTarget.value, false)}
          onBlur={() => take(typed, true)}
          onKeyDown={(event) => {
            const last = chips.at(-1)
            if (event.key === 'Backspace' && typed === '' && last !== undefined) show({ [last]: '' })
          }}
        />
        <PopoverButton
          label={t('addFilter')}
          className="button quiet small icon"
          isRight
          button={<Icon name="plus" />}
          panel={(close) => (
            <FilterChoices
              onChoose={(name) => {
                close()
                add(name)
              }}
              onType={(chosen) => {
                close()
                show({ type: chosen })
              }}
            />
          )}
        />
      </div>
      <Check
        label={t('allNamespaces')}
        isOn={params['everywhere'] === 'yes'}
        onChange={(isOn) => show({ everywhere: isOn ? 'yes' : '' })}
      />
      {isFiltered && (
        <button
          type="button"
          class="button quiet"
          onClick={() => {
            setTyped('')
            show(Object.fromEntries(FILTERS.map((name) => [name, ''])))
          }}
        >
          {t('clear')}
        </button>
      )}
    </form>
  )
}

/** A part such as `group:` that has no value yet is not looked for. */
const withoutUnfinished = (text: string): string =>
  text.replace(new RegExp(`(^|\\s)(${NAMED_FILTERS.join('|')}):\\S*$|content:.*$`, 'i'), '').trim()

function FilterChoices(props: {
  readonly onChoose: (name: NamedFilter) => void
  readonly onType: (type: string) => void
}) {
  const typed = NAMED_FILTERS.filter((name) => name !== 'type')
  return (
    <>
      {typed.map((name) => (
        <button key={name} type="button" class="choice" onClick={() => props.onChoose(name)}>
          <code>{`${name}:`}</code> <span class="soft">{t(LABELS[name])}</span>
        </button>
      ))}
      {CONFIG_TYPES.map((type) => (
        <button key={type} type="button" class="choice" onClick={() => props.onType(type)}>
          <code>{`type:${type}`}</code>
        </button>
      ))}
    </>
  )
}
