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

interface SelectProps {
  readonly label: string
  readonly value: string
  /** Texts by value, in their order. */
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly isChanged?: boolean
  onChange(value: string): void
}

/** A field with a few values. */
export function Select({ label, value, options, isChanged = false, onChange }: SelectProps): JSX.Element {
  return (
    <Field label={label}>
      {(props) => (
        <select
          {...props}
          class={isChanged ? 'changed' : ''}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
