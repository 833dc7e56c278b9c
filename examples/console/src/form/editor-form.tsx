import type { ComponentChildren, JSX } from 'preact'
import { Skeleton } from '../ui/loaded.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { ConflictDialog } from './conflict-dialog.tsx'
import { SaveBar } from './save-bar.tsx'
import type { Editor } from './use-editor.ts'

interface EditorFormProps {
  readonly editor: Editor
  /** Lines kept free until the document is loaded. */
  readonly lines: number
  /** The name of a field. */
  nameOf(path: string): string
  /** The value of a field, as text for people. */
  textOf(path: string, text: string): string
  /** @default saves the document */
  onSubmit?(): void
  /** More buttons next to Save. */
  readonly buttons?: ComponentChildren
  readonly children: ComponentChildren
}

/** The fields of a document, the bar that saves them, and the choice if someone else saved first. */
export function EditorForm(props: EditorFormProps): JSX.Element {
  const { editor, lines, nameOf, textOf, onSubmit, buttons, children } = props
  if (editor.stored === undefined) {
    return (
      <>
        <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
        {editor.error === undefined && <Skeleton lines={lines} />}
      </>
    )
  }
  return (
    <>
      <form
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault()
          if (onSubmit === undefined) void editor.save()
          else onSubmit()
        }}
      >
        {children}
        <SaveBar editor={editor} nameOf={nameOf}>
          {buttons}
        </SaveBar>
      </form>
      <ConflictDialog editor={editor} nameOf={nameOf} textOf={textOf} />
    </>
  )
}
