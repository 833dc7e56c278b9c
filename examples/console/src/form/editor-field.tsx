import type { JSX } from 'preact'
import { Field, ValueInput } from '../ui/field.tsx'
import { useWords } from '../words/words.ts'
import type { Editor } from './use-editor.ts'

function useFault({ faults, isTried }: Editor, path: string): string | undefined {
  const { settings } = useWords()
  const fault = faults[path]
  // While the table is being filled in, an empty field isn't a fault yet.
  const isShown = fault !== undefined && (isTried || fault !== 'customMissing')
  return isShown ? settings.faults[fault] : undefined
}

interface EditorFieldProps {
  readonly editor: Editor
  readonly path: string
  readonly label: string
  readonly about: string
}

/** A labelled number. It's marked while it differs from the stored value. */
export function EditorField({ editor, path, label, about }: EditorFieldProps): JSX.Element {
  return (
    <Field label={label} about={about} fault={useFault(editor, path)}>
      {(props) => (
        <input
          {...props}
          autocomplete="off"
          spellcheck={false}
          class={editor.changed.includes(path) ? 'number changed' : 'number'}
          value={editor.draft[path] ?? ''}
          inputMode="decimal"
          onInput={(event) => editor.set(path, event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface EditorValueProps {
  readonly editor: Editor
  readonly path: string
  /** The row and the column, for screen readers. */
  readonly label: string
  readonly placeholder?: string | undefined
  /** Shown below, such as the default. */
  readonly hint?: string | undefined
}

/** A number in a table. While it's changed, the stored one stands below. */
export function EditorValue({ editor, path, label, placeholder, hint }: EditorValueProps): JSX.Element {
  const words = useWords()
  const stored = editor.stored?.fields[path] ?? ''
  const isChanged = editor.changed.includes(path)
  const was = isChanged && stored !== '' ? [words.was(stored)] : []
  return (
    <ValueInput
      label={label}
      value={editor.draft[path] ?? ''}
      fault={useFault(editor, path)}
      isChanged={isChanged}
      hint={[...was, ...(hint === undefined ? [] : [hint])].join(' · ')}
      placeholder={placeholder}
      onInput={(text) => editor.set(path, text)}
    />
  )
}
