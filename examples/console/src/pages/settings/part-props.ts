import type { Editor } from '../../form/use-editor.ts'

/** What a part of the settings' form works with. */
export interface PartProps {
  readonly editor: Editor
  /** The adaptive factor now. */
  readonly factor: number
}
