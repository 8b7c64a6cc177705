//! Where in a file a mutant can be, and what it is. Patterns, types, constants, macros and tests have none.

use std::collections::HashSet;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, ReturnType, Stmt, Type};

/// A mutant: `before` and `after` are put around the text at `range`, with `#` for the mutant's number.
pub(crate) struct Place {
    pub(crate) kind: &'static str,
    pub(crate) range: Range<usize>,
    pub(crate) before: String,
    pub(crate) after: &'static str,
    /// An operator that becomes a comma.
    pub(crate) operator: Option<Range<usize>>,
}

#[derive(Default)]
pub(crate) struct Places {
    pub(crate) found: Vec<Place>,
    /// Where both values of a condition have been tried.
    conditions: HashSet<(usize, usize)>,
}

impl Places {
    fn around(&mut self, kind: &'static str, range: Range<usize>, before: &str, after: &'static str) {
        self.found.push(Place { kind, range, before: before.to_owned(), after, operator: None });
    }

    fn condition(&mut self, condition: &Expr, may_be_true: bool) {
        if is_bound(condition) {
            return;
        }
        let range = condition.span().byte_range();
        if !self.conditions.insert((range.start, range.end)) {
            return;
        }
        self.around("false", range.clone(), "((", ") & !crate::mutant::is(#))");
        if may_be_true {
            self.around("true", range, "((", ") | crate::mutant::is(#))");
        }
    }

    /// A function whose body is not run.
    fn function(&mut self, attributes: &[Attribute], output: &ReturnType, block: &Block) -> bool {
        if is_test(attributes) {
            return false;
        }
        let start = block.brace_token.span.open().byte_range().end;
        let results: &[(&str, &str)] = match output {
            ReturnType::Default => &[("returns at once", "return;")],
            ReturnType::Type(_, result) => match first_name(result).as_deref() {
                Some("bool") => &[("returns true", "return true;"), ("returns false", "return false;")],
                Some("Option") => &[("returns None", "return None;")],
                _ => &[],
            },
        };
        if !block.stmts.is_empty() {
            for (kind, result) in results {
                self.around(kind, start..start, &format!(" if crate::mutant::is(#) {{ {result} }}"), "");
            }
        }
        true
    }
}

fn first_name(result: &Type) -> Option<String> {
    match result {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string().replace(' ', "");
            text.split(['(', ')', ',']).any(|word| word == "test") && !text.contains("not(test)")
        }
        _ => false,
    })
}

/// A condition that binds names cannot be put in parentheses. One that holds a `cfg!` is settled when it is compiled, and has to stay so: the
/// code that it leaves out would have its place on the stack.
fn is_bound(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Macro(called) => called.mac.path.is_ident("cfg"),
        Expr::Paren(inner) => is_bound(&inner.expr),
        Expr::Unary(unary) => is_bound(&unary.expr),
        Expr::Binary(both) => is_bound(&both.left) || is_bound(&both.right),
        _ => false,
    }
}

fn is_integer_method(name: &str) -> bool {
    name.starts_with("wrapping_") || name.starts_with("saturating_") || matches!(name, "fetch_add" | "fetch_sub")
}

impl<'a> Visit<'a> for Places {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Const(_)
            | syn::Item::Static(_)
            | syn::Item::Macro(_)
            | syn::Item::Enum(_)
            | syn::Item::Struct(_)
            | syn::Item::Use(_) => return,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if item.sig.constness.is_none() && self.function(&item.attrs, &item.sig.output, &item.block) {
            self.visit_block(&item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if item.sig.constness.is_none() && self.function(&item.attrs, &item.sig.output, &item.block) {
            self.visit_block(&item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default
            && item.sig.constness.is_none()
            && self.function(&item.attrs, &item.sig.output, block)
        {
            self.visit_block(block);
        }
    }

    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'a syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}
    fn visit_type(&mut self, _: &'a Type) {}
    fn visit_pat(&mut self, _: &'a syn::Pat) {}
    fn visit_attribute(&mut self, _: &'a Attribute) {}
    fn visit_path(&mut self, _: &'a syn::Path) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'a syn::AngleBracketedGenericArguments) {}

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let kind = match expression {
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) | Expr::Unsafe(_) => Some("not done"),
                Expr::Binary(_) => Some("not done"),
                Expr::Return(_) => Some("does not return"),
                Expr::Break(_) => Some("does not break"),
                Expr::Continue(_) => Some("does not continue"),
                _ => None,
            };
            if let Some(kind) = kind {
                self.around(kind, statement.span().byte_range(), "if !crate::mutant::is(#) { ", " }");
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, condition: &'a syn::ExprIf) {
        self.condition(&condition.cond, true);
        visit::visit_expr_if(self, condition);
    }

    /// Never true for ever: that would only be a loop without an end.
    fn visit_expr_while(&mut self, repeated: &'a syn::ExprWhile) {
        self.condition(&repeated.cond, false);
        visit::visit_expr_while(self, repeated);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if is_test(&arm.attrs) {
            return;
        }
        if let Some((_, guard)) = &arm.guard {
            self.condition(guard, true);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Not(_)) {
            let range = unary.span().byte_range();
            if !is_bound(&unary.expr) && !self.conditions.contains(&(range.start, range.end)) {
                self.around("negated", range, "((", ") ^ crate::mutant::is(#))");
            }
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if is_integer_method(&call.method.to_string())
            && let Some(argument) = call.args.first()
        {
            self.around("off by one", argument.span().byte_range(), "crate::mutant::off(#, ", ")");
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let range = binary.span().byte_range();
        let exchanged = match binary.op {
            BinOp::Add(_) => Some(("- for +", "add")),
            BinOp::Sub(_) => Some(("+ for -", "sub")),
            BinOp::Lt(_) => Some(("<= for <", "lt")),
            BinOp::Le(_) => Some(("< for <=", "le")),
            BinOp::Gt(_) => Some((">= for >", "gt")),
            BinOp::Ge(_) => Some(("> for >=", "ge")),
            _ => None,
        };
        match binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.condition(&binary.left, true);
                self.condition(&binary.right, true);
            }
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                // A loop's condition is already in `conditions`, and is not made true here either.
                let whole = Expr::Binary(binary.clone());
                self.condition(&whole, true);
            }
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_) => {
                self.around("off by one", range.clone(), "crate::mutant::off(#, ", ")");
            }
            BinOp::AddAssign(_) | BinOp::SubAssign(_) => {
                self.around("off by one", binary.right.span().byte_range(), "crate::mutant::off(#, ", ")");
            }
            _ => {}
        }
        if let Some((kind, function)) = exchanged {
            self.found.push(Place {
                kind,
                range,
                before: format!("crate::mutant::{function}(#, "),
                after: ")",
                operator: Some(binary.op.span().byte_range()),
            });
        }
        visit::visit_expr_binary(self, binary);
    }
}
