import type { JSX } from 'preact'
import { Field, Select } from '../ui/field.tsx'
import { useWords } from '../words/words.ts'
import type { Editor } from './use-editor.ts'

interface FieldProps {
  readonly editor: Editor
  readonly path: string
  readonly label: string
}

function useFault({ faults, isTried }: Editor, path: string): string | undefined {
  const { settings } = useWords()
  const fault = faults[path]
  // While the table is being filled in, an empty field isn't a fault yet.
  const isShown = fault !== undefined && (isTried || fault !== 'customMissing')
  return isShown ? settings.faults[fault] : undefined
}

interface EditorFieldProps extends FieldProps {
  readonly about?: string
  /** Any text. Without: any number. */
  readonly isText?: boolean
}

/** A labelled field. It's marked while it differs from the stored value. */
export function EditorField({ editor, path, label, about, isText = false }: EditorFieldProps): JSX.Element {
  const changed = editor.changed.includes(path) ? 'changed' : ''
  return (
    <Field label={label} about={about} fault={useFault(editor, path)}>
      {(props) => (
        <input
          {...props}
          autocomplete="off"
          spellcheck={false}
          class={isText ? changed : `number ${changed}`}
          dir={isText ? 'auto' : 'ltr'}
          inputMode={isText ? 'text' : 'decimal'}
          value={editor.draft[path] ?? ''}
          onInput={(event) => editor.set(path, event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface EditorChoiceProps extends FieldProps {
  /** Texts by value. */
  readonly options: Readonly<Record<string, string>>
}

/** A field with a few values. */
export function EditorChoice({ editor, path, label, options }: EditorChoiceProps): JSX.Element {
  return (
    <Select
      label={label}
      value={editor.draft[path] ?? ''}
      options={Object.entries(options)}
      isChanged={editor.changed.includes(path)}
      onChange={(value) => editor.set(path, value)}
    />
  )
}

interface EditorValueProps extends FieldProps {
  readonly placeholder?: string | undefined
  /** Shown below, such as the default. */
  readonly hint?: string | undefined
}

/** A number in a table, whose label names row and column. While it's changed, the stored one stands below. */
export function EditorValue({ editor, path, label, placeholder, hint }: EditorValueProps): JSX.Element {
  const words = useWords()
  const stored = editor.stored?.fields[path] ?? ''
  const isChanged = editor.changed.includes(path)
  const fault = useFault(editor, path)
  const was = isChanged && stored !== '' ? [words.was(stored)] : []
  const below = fault ?? [...was, ...(hint === undefined ? [] : [hint])].join(' · ')
  const id = `${path}-about`
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
        value={editor.draft[path] ?? ''}
        onInput={(event) => editor.set(path, event.currentTarget.value)}
      />
      {below !== '' && (
        <span id={id} class={fault === undefined ? 'quiet small' : 'fault small'}>
          {below}
        </span>
      )}
    </span>
  )
}

/** A field that is on or off. */
export function EditorSwitch({ editor, path, label }: FieldProps): JSX.Element {
  const isOn = editor.draft[path] === 'true'
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        onChange={(event) => editor.set(path, String(event.currentTarget.checked))}
      />
      <span>{label}</span>
    </label>
  )
}
