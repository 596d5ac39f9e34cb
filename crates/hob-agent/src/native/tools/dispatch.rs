//! Runs an action by its tool.

use crate::{
    folder::Folder,
    native::{
        investigation::Taken,
        tools::{Action, Answer, ToolError, Toolbox, scratch::ANSWER_MAX, think::Think},
    },
};

/// Runs `action` with `toolbox`.
pub(in crate::native) async fn run_action(toolbox: &Toolbox, action: Action) -> Result<Answer, ToolError> {
    match action {
        Action::Read(read) => {
            let scratch = toolbox.scratch.of_path(&read.path).cloned();
            let folder = scratch.as_ref().unwrap_or(&toolbox.folder);
            let picture = read.whole().map(|path| toolbox.pictures.answer(path, folder)).transpose()?.flatten();
            if let Some(picture) = picture {
                return Ok(picture);
            }
            match scratch {
                Some(scratch) => blocking(toolbox, move |_, cap| read.run(&scratch, cap.min(ANSWER_MAX))).await,
                None => blocking(toolbox, move |folder, cap| read.run(folder, cap)).await,
            }
        }
        Action::List(list) => blocking(toolbox, move |folder, cap| list.run(folder, cap.min(ANSWER_MAX))).await,
        Action::Search(search) => blocking(toolbox, move |folder, cap| search.run(folder, cap.min(ANSWER_MAX))).await,
        Action::Edit(edit) => blocking(toolbox, move |folder, _| edit.run(folder)).await,
        Action::Write(write) => blocking(toolbox, move |folder, _| write.run(folder)).await,
        Action::Patch(patch) => blocking(toolbox, move |folder, _| patch.run(folder)).await,
        Action::Fetch(fetch) => fetch.run(toolbox).await.map(Answer::Text),
        Action::Shell(shell) => shell.run(toolbox).await,
        Action::Job(look) => look.run(toolbox).await,
        Action::Program(run) => run.run(toolbox).await,
        Action::Mcp(call) => {
            let answer = call.run(toolbox).await?;
            Ok(Answer::Text(toolbox.scratch.cut(answer, toolbox.output_cap).await))
        }
        Action::ReadEvidence(read) => {
            let read = toolbox.case()?.read(read.id, read.from, toolbox.output_cap).await;
            Ok(Answer::Text(read?))
        }
        Action::Case(action) => Ok(match toolbox.case()?.take(action).await? {
            Taken::Sentence(text) => Answer::Text(text),
            Taken::End(outcome) => Answer::End(outcome),
        }),
        Action::Plan(plan) => plan.check().map(Answer::Text),
        Action::Think(_) => Ok(Answer::Text(Think::answer())),
        Action::Ask(ask) => ask.end().map(Answer::End),
        Action::ForPerson(hand_off) => hand_off.end().map(Answer::End),
        Action::PassOn(pass_on) => pass_on.end().map(Answer::End),
        Action::Done(done) => done.end().map(Answer::End),
    }
}

async fn blocking(
    toolbox: &Toolbox,
    work: impl FnOnce(&Folder, usize) -> Result<String, ToolError> + Send + 'static,
) -> Result<Answer, ToolError> {
    let (folder, cap) = (toolbox.folder.clone(), toolbox.output_cap);
    let done = tokio::task::spawn_blocking(move || work(&folder, cap)).await;
    done.map_err(|error| ToolError::Refused(format!("the tool broke: {error}")))?.map(Answer::Text)
}
