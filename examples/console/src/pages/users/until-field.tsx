import type { JSX } from 'preact'
import type { Editor } from '../../form/use-editor.ts'
import { Field } from '../../ui/field.tsx'
import { useWords } from '../../words/words.ts'

/** Until when something is in force. */
export function UntilField({ editor, path, label }: { editor: Editor; path: string; label: string }): JSX.Element {
  const words = useWords()
  const fault = editor.faults[path]
  return (
    <Field
      label={label}
      about={words.users.untilAbout}
      fault={fault === undefined ? undefined : words.settings.faults[fault]}
    >
      {(props) => (
        <input
          {...props}
          type="datetime-local"
          step="any"
          class={editor.changed.includes(path) ? 'changed' : ''}
          value={editor.draft[path]}
          onInput={(event) => editor.set(path, event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
