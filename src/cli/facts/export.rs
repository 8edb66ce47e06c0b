//! `annals facts export`

use crate::cli::facts::FactsContext;
use crate::error::Result;
use crate::facts;

pub(crate) fn run(context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    for fact in facts::export(&context.read()?, &user)? {
        context.out.json_line(&fact);
    }
    Ok(())
}
