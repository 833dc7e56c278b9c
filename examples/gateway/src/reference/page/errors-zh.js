// @ts-check

/**
 * What answers and their headers are in Chinese, by what they are in English; of errors without their codes.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const ANSWERS_ZH = {
  'Done.': '已完成。',
  'Done. The response has no body.': '已完成，没有响应体。',
  'Created.': '已创建。',
  'Accepted, and in progress.': '已接受，正在处理。',
  'Something went wrong on our side.': '服务端出错。',
  'The service is stopping. Another process may be available soon.': '服务正在停止，稍后可能由其他进程接替。',
  'A required store is unavailable. Nothing was charged.': '请求所需的存储没有响应。未扣除额度。',
  'The request is malformed, for example invalid JSON.': '请求格式不正确，例如不是有效的 JSON。',
  'The credential is missing or invalid.': '凭据缺失或无效。',
  'This path does not exist.': '此路径不存在。',
  'The request conflicts with stored data, or with another request in progress.':
    '与已保存的内容或处理中的另一请求冲突。',
  'The upload session has expired. Nothing was stored or charged.': '上传会话已结束。未保存，也未扣除额度。',
  'The body is too large.': '请求体过大。',
  "The body's type is not `application/json`.": '请求体的类型不是 `application/json`。',
  'The content is invalid. `details` lists all faults.': '内容无效；`details` 指出每个错误。',
  'A chart is unknown.': '有谱面不在谱面表中。',
  "A DX score is higher than the chart's maximum.": 'DX 分数超过谱面的最大值。',
  'A window has too few tokens left. Nothing was charged.': '有窗口额度不足。未扣除额度。',
  'Too many requests of the caller are in flight. Nothing was charged.': '调用者同时进行的请求过多。未扣额度。',
  'These charts have no scores.': '这些谱面没有成绩。',
  'The ticket balance is too small.': '功能票余额不足。',
  'The key was used for a different request.': '该键已用于另一请求。',
  "Another import of this player's scores is in progress.": '该玩家的另一次导入正在进行。',
  "The score service rejected the player's credential.": '查分服务拒绝了玩家的凭据。',
  'The score service cannot be reached.': '无法连接查分服务。',
  'The response of the score service is invalid.': '查分服务的响应无法解读。',
  'The score service failed.': '查分服务出错。',
  'The score service is rate limiting.': '查分服务正在限流。',
  'The score service did not answer in time.': '查分服务没有及时响应。',
  "The player's privacy settings hide the scores.": '玩家的隐私设置不公开成绩。',
  'The caller may not do this.': '调用者无权进行此操作。',
  'The account is disabled. Its credentials are valid, and will work again when it is enabled.':
    '账号已停用。其凭据有效，启用后即可再次使用。',
  'The document has changed. Read it again.': '其间有人更改了文档，请重新读取。',
  '`If-Match` is missing.': '缺少 `If-Match`。',
  'The chunk differs from an earlier one with its index, or does not fit its snapshot.':
    '该块与先前同序号的块不同，或不属于该快照。',
  'Another snapshot of the player is open.': '该玩家的另一快照尚未结束。',
  'The final chunk arrived before others: `missing` lists them.': '最后一块先于其他块到达。`missing` 列出缺少的块。',
  'The snapshot has expired. Send it again with a new id.': '快照已结束。请用另一个 ID 重新发送。',
  'The whole snapshot has no valid record. Nothing was deleted.': '整个快照没有有效的记录。未删除任何内容。',
  'The records do not match the checksum.': '记录与校验和不符。',
  'Another write of the player is in progress. Send the same request again.':
    '该玩家的另一次写入正在进行。请重试同一请求。',

  "The document's version and revision, for `If-Match`.": '文档的版本和修订，用于 `If-Match`。',
  '`true`: the stored response to an earlier request with this key. Nothing was repeated.':
    '`true`：这是此键先前请求的响应，没有重复执行。',
  'The remaining quota: `r` tokens for `t` more seconds. In a 429, only the windows that refuse.':
    '剩余配额：`r` 点额度，还有 `t` 秒。429 时只列拒绝的窗口。',
  'The windows that apply: `q` tokens in `w` seconds.': '适用的窗口：`w` 秒内 `q` 点额度。',
  'Whole seconds to wait before retrying.': '重试前要等的整秒数。',
  'The required credential.': '需要的凭据。',
  'When the window that refuses ends, ISO 8601 UTC.': '拒绝请求的窗口何时结束，ISO 8601 UTC。',
  "The request's id in our log: the one that the client sent, or a new one.":
    '日志中的请求 ID：客户端发送的，或新生成的。',
}
