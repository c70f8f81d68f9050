import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { t } from '../language/text.ts'

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly wrong?: string | undefined
  readonly isWide?: boolean
  /** Draws the control with the id of the label, and what describes it. */
  readonly control: (ids: { id: string; 'aria-describedby': string | undefined }) => ComponentChildren
}

/** A control with its label, a hint, and what is wrong with its value. */
export function Field({ label, hint, wrong, isWide = false, control }: FieldProps) {
  const id = useId()
  const about = wrong !== undefined || hint !== undefined ? `${id}-about` : undefined
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label class="label" for={id}>
        {label}
      </label>
      {control({ id, 'aria-describedby': about })}
      {wrong !== undefined ? (
        <span class="wrong" id={about} role="alert">
          {wrong}
        </span>
      ) : (
        hint !== undefined && (
          <span class="hint" id={about}>
            {hint}
          </span>
        )
      )}
    </div>
  )
}

/** A text field: its value, and what it says. */
export interface TextFieldProps extends Omit<FieldProps, 'control'> {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly type?: 'text' | 'password' | 'search'
  readonly autoComplete?: string
  readonly placeholder?: string
  readonly isReadOnly?: boolean
  readonly hasFocus?: boolean
  readonly isCode?: boolean
  readonly maxLength?: number
  /** Optional suggestions for the value. */
  readonly suggestions?: readonly string[]
}

/** A field for a text. */
export function TextField(props: TextFieldProps) {
  const { value, onInput, type = 'text', autoComplete = 'off', placeholder, ...rest } = props
  const { isReadOnly = false, hasFocus = false, isCode = false, maxLength, ...others } = rest
  const { suggestions = [], ...field } = others
  const listId = useId()
  return (
    <Field
      {...field}
      control={(ids) => (
        <>
          {suggestions.length > 0 && (
            <datalist id={listId}>
              {suggestions.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </datalist>
          )}
          <input
            {...ids}
            list={suggestions.length > 0 ? listId : undefined}
            class={isCode ? 'input mono' : 'input'}
            {...typeOf(type)}
            value={value}
            autocomplete={autoComplete}
            placeholder={placeholder}
            readOnly={isReadOnly}
            autofocus={hasFocus}
            maxLength={maxLength}
            spellcheck={false}
            dir="auto"
            aria-invalid={props.wrong !== undefined}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        </>
      )}
    />
  )
}

/** The types of elements know each `type` by itself only. */
const typeOf = (type: NonNullable<TextFieldProps['type']>) => ({ type }) as { type: 'text' }

/** A field for a longer text. */
export function LongTextField(props: TextFieldProps) {
  const { value, onInput, placeholder, isCode = false, maxLength, ...field } = props
  return (
    <Field
      {...field}
      control={(ids) => (
        <textarea
          {...ids}
          class={isCode ? 'input mono' : 'input'}
          value={value}
          placeholder={placeholder}
          maxLength={maxLength}
          spellcheck={false}
          dir="auto"
          aria-invalid={props.wrong !== undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    />
  )
}

interface SelectFieldProps extends Omit<FieldProps, 'control'> {
  readonly value: string
  readonly onChange: (value: string) => void
  /** Values with their texts for people. */
  readonly choices: readonly (readonly [string, string])[]
}

/** A field for one of some values. */
export function SelectField({ value, onChange, choices, ...field }: SelectFieldProps) {
  return (
    <Field
      {...field}
      control={(ids) => (
        <select
          {...ids}
          class="input"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {choices.map(([choice, shown]) => (
            <option key={choice} value={choice} selected={choice === value}>
              {shown}
            </option>
          ))}
        </select>
      )}
    />
  )
}

interface CheckProps {
  readonly label: ComponentChildren
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly isHiddenLabel?: boolean
  readonly isDisabled?: boolean
}

/** A box to tick. */
export function Check({ label, isOn, onChange, isHiddenLabel = false, isDisabled = false }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class={isHiddenLabel ? 'hidden' : ''}>{label}</span>
    </label>
  )
}

/** The two buttons at the end of most dialogs. */
export function DialogButtons(props: {
  readonly done: string
  readonly onCancel: () => void
  readonly isBusy?: boolean
  readonly isDisabled?: boolean
  readonly isDanger?: boolean
}) {
  const { done, onCancel, isBusy = false, isDisabled = false, isDanger = false } = props
  return (
    <>
      <button type="button" class="button" onClick={onCancel}>
        {t('cancel')}
      </button>
      <button
        type="submit"
        class={isDanger ? 'button danger' : 'button primary'}
        // Nothing is deleted by mistake.
        {...(isDanger ? {} : { 'data-key': 'Control+Enter', 'aria-keyshortcuts': 'Control+Enter' })}
        disabled={isBusy || isDisabled}
      >
        {done}
      </button>
    </>
  )
}
