import type { Words } from './en.ts'

/** What the history of everybody's limits says. */
export const history: Words['history'] = {
  title: '配额的更改历史',
  open: '更改历史',
  back: '配额',
  about: '对所有人配额的每次更改，最新的在前。每次更改都可单独撤销，此后他人所做的更改不受影响。',
  list: '配额的更改',
  empty: '还没有任何更改：默认值生效。',
  by: (who, when) => `${who}，${when}`,
  newest: '最新',
  nothing: '没有改变生效的内容',
  undo: '撤销……',
  undoOf: (number) => `撤销更改 ${number}`,
  undoTitle: '撤销此更改',
  undoAbout: '勾选的项目会恢复为更改前的值。撤销本身也是一次更改，同样可以撤销。',
  part: '项目',
  now: '当前值',
  becomes: '恢复为',
  done: '已经如此',
  later: '此后又被更改',
  undoSubmit: '撤销',
  undone: '已撤销。',
  nothingLeft: '一切都已与此更改之前相同。',
  changedMeanwhile: '有人抢先保存了。以下为现在保存的内容，请重新确认。',
  all: '全部',
}
