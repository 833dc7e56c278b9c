import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  /** Which values are allowed. */
  readonly about?: string | undefined
  /** The fault of the current value. */
  readonly fault?: string | undefined
  readonly children: (props: {
    id: string
    'aria-describedby': string | undefined
    'aria-invalid': boolean
  }) => ComponentChildren
}

/** A field with label, description and fault, connected for screen readers. */
export function Field(props: FieldProps): JSX.Element {
  const { label, about, fault, children } = props
  const id = useId()
  // Reserves room for a text that may appear later.
  const hasRoom = about !== undefined || 'fault' in props
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hasRoom ? `${id}-about` : undefined, 'aria-invalid': fault !== undefined })}
      {hasRoom && (
        <span id={`${id}-about`} class={fault === undefined ? 'quiet small' : 'fault small'}>
          {fault ?? about}
        </span>
      )}
    </div>
  )
}

interface ValueProps {
  readonly label: string
  readonly value: string
  readonly fault?: string | undefined
  readonly isChanged: boolean
  /** Shown below, unless there is a fault. May be empty. */
  readonly hint: string
  readonly placeholder?: string | undefined
  onInput(text: string): void
}

/** A number in a table. Its label names row and column for screen readers. */
export function ValueInput(props: ValueProps): JSX.Element {
  const { label, value, fault, isChanged, hint, placeholder, onInput } = props
  const id = useId()
  const below = fault ?? hint
  return (
    <span class="value">
      <input
        aria-label={label}
        aria-invalid={fault !== undefined}
        aria-describedby={below === '' ? undefined : id}
        class={isChanged ? 'number changed' : 'number'}
        inputMode="numeric"
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {below !== '' && (
        <span id={id} class={fault === undefined ? 'quiet small' : 'fault small'}>
          {below}
        </span>
      )}
    </span>
  )
}
